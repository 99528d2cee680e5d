/*
 * Sort items by their keys, and merge those with equal keys, in memory that
 * does not grow with their number: what does not fit is sorted, written to a
 * file without a name, in TMPDIR, /var/tmp or /tmp, and merged when it is read.
 * Without such a file memory grows.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_SORTER_H
#define LIB_VIEW_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"

#define MU_SORTER_KEY_MAX 2048 /* bytes */

/* Keys are ordered as by memcmp(); of two alike the shorter is the first. */
struct mu_sorted {
	const unsigned char *key;
	size_t length;
	uint64_t values[2];
};

struct mu_sorter_run;
struct mu_sorter_cursor;

/* Zero at first, but for what the caller sets. */
struct mu_sorter {
	/* Set by the caller. */
	size_t room; /* bytes in memory; 0: the usual number */
	/* Merge FROM into INTO, in any order; NULL: saturated sums. */
	void (*merge)(uint64_t into[2], const uint64_t from[2]);

	unsigned char *items; /* in memory */
	size_t used, max;
	uint32_t *offsets; /* of the items */
	size_t count, max_offsets;
	struct mu_sorter_run *runs; /* in the file */
	size_t num_runs, max_runs;
	bool has_file;
	int fd;
	off_t end; /* of the file */
	int error; /* errno of what failed while it was read; or 0 */

	/* While it is read. */
	struct mu_sorter_cursor *cursors;
	size_t num_cursors;
	struct mu_sorter_cursor **heap; /* those with items, the least first */
	size_t num_heap;
	unsigned char key[MU_SORTER_KEY_MAX];
};

/*
 * Add a key of LENGTH bytes, up to MU_SORTER_KEY_MAX, with values A and B.
 * Returns false without memory. Call before the first mu_sorter_begin().
 */
bool mu_sorter_add(struct mu_sorter *sorter, const unsigned char *key,
    size_t length, uint64_t a, uint64_t b);

/* Begin to read, any number of times. */
void mu_sorter_begin(struct mu_sorter *sorter);

/*
 * The next item, valid until the next call. Returns false at the end, and if
 * mu_sorter_end() will say that something has failed.
 */
bool mu_sorter_next(struct mu_sorter *sorter, struct mu_sorted *item);

/* MU_OK; MU_ERR_NO_MEMORY, and WHY: items were not read. */
enum mu_status mu_sorter_end(
    const struct mu_sorter *sorter, struct mu_why *why);

/* Accepts one that is zero. */
void mu_sorter_release(struct mu_sorter *sorter);

#endif
