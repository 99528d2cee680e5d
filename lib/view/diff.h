/*
 * Compare two dumps of a program: the stacks that have more blocks of a size in
 * the second one, and those that have fewer.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_DIFF_H
#define LIB_VIEW_DIFF_H

#include "lib/view/records.h"
#include "lib/view/sorter.h"

enum mu_change_kind { MU_GREW, MU_SHRANK, MU_CHANGE_KINDS };

struct mu_change {
	uint64_t size;                      /* of a block */
	uint64_t before, after;             /* numbers of blocks */
	uint64_t blocks, bytes;             /* differences */
	uintptr_t frames[MU_RECORD_FRAMES]; /* numbers, innermost first */
	size_t num_frames;
};

/* Zero at first. */
struct mu_diff {
	struct mu_sorter records; /* of both dumps, by stack and size */
	struct mu_sorter changes[MU_CHANGE_KINDS]; /* by bytes, descending */
	size_t count[MU_CHANGE_KINDS];
	uint64_t changed[MU_CHANGE_KINDS]; /* bytes, sums */
	uint64_t bytes[2], blocks[2];      /* totals before and after */
};

/*
 * Add RECORD of the dump before, or of the one after, with numbers for frames:
 * equal numbers for equal locations. Returns false without memory.
 */
bool mu_diff_add(
    struct mu_diff *diff, size_t side, const struct mu_record *record);

/*
 * Find the changes when all records are added. MU_OK; MU_ERR_NO_MEMORY, with
 * the cause in WHY.
 */
enum mu_status mu_diff_make(struct mu_diff *diff, struct mu_why *why);

/* Begin to read the changes of KIND, any number of times. */
void mu_diff_begin(struct mu_diff *diff, enum mu_change_kind kind);

/* The next one of KIND; false: no more, or as mu_diff_end() says. */
bool mu_diff_next(
    struct mu_diff *diff, enum mu_change_kind kind, struct mu_change *change);

/* MU_OK; MU_ERR_NO_MEMORY, and WHY: changes were not read. */
enum mu_status mu_diff_end(const struct mu_diff *diff, struct mu_why *why);

/* Accepts one that is zero. */
void mu_diff_release(struct mu_diff *diff);

#endif
