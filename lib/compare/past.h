/*
 * What a saved look, or a report in JSON, says of the groups of blocks at its
 * time, for --diff.
 */
#ifndef LIB_COMPARE_PAST_H
#define LIB_COMPARE_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/check/check.h"

enum mu_past_kind {
	MU_PAST_LOST, /* blocks of one stack or shape */
	MU_PAST_LIVE, /* blocks of one type: rows of any length are of one */
	MU_PAST_HELD, /* what one path from a variable leads to: elements */
	MU_PAST_KINDS
};

struct mu_past_group {
	char *key;
	enum mu_past_kind kind;
	uint64_t bytes, blocks;
};

struct mu_past {
	const char *path;
	struct mu_past_group *groups; /* sorted, each once */
	size_t count, max;
	uint64_t lost_bytes, lost_blocks, live_bytes, live_blocks;
	/* It has groups of the kind. */
	bool has[MU_PAST_KINDS];
	size_t missing; /* groups of lost ones that it does not list */
};

/* True if the file at PATH is a saved look or begins like JSON. */
bool mu_past_is(const char *path);

/*
 * Read it, a look as CHECK says, whose look and explain are not used. MU_OK, or
 * WHY says why not. Close in any case.
 */
enum mu_status mu_past_open(struct mu_past *past, const char *path,
    const struct mu_check *check, struct mu_why *why);

/* By kind and key, for qsort(). */
int mu_past_compare(const void *a, const void *b);

/* Accepts the zero value. */
void mu_past_close(struct mu_past *past);

#endif
