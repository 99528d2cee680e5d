/*
 * Compare two dumps of a program: the stacks that have more blocks of a size in
 * the second one, and those that have fewer.
 *
 * Pure.
 */
#ifndef LIB_VIEW_DIFF_H
#define LIB_VIEW_DIFF_H

#include "lib/view/records.h"

struct mu_change {
	const struct mu_record *record; /* its stack and size */
	uint64_t before, after;         /* numbers of blocks */
	bool grew;
	uint64_t bytes; /* difference */
};

struct mu_diff {
	/* Increases by size, then decreases by size. */
	struct mu_change *changes;
	size_t count, num_grew;
	uint64_t bytes[2], blocks[2]; /* totals before and after */
	uint64_t grown, shrunk;       /* bytes, sums */
};

/*
 * The records are sealed and have numbers for frames: equal numbers for equal
 * locations. They must stay valid until the release. Returns false if memory is
 * exhausted.
 */
bool mu_diff_make(struct mu_diff *diff, const struct mu_records *before,
    const struct mu_records *after);

/* Accepts one that is zero. */
void mu_diff_release(struct mu_diff *diff);

#endif
