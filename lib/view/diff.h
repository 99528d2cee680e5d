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
	uint64_t before, after;         /* blocks */
	bool grew;
	uint64_t bytes; /* more, or less */
};

struct mu_diff {
	/* What grew, the most first; then what shrank, the most first. */
	struct mu_change *changes;
	size_t count, num_grew;
	uint64_t bytes[2], blocks[2]; /* in all, before and after */
	uint64_t grown, shrunk;       /* bytes, sums */
};

/*
 * The records are sealed and have numbers for frames: equal numbers for equal
 * places. They are borrowed until the release. False: no memory.
 */
bool mu_diff_make(struct mu_diff *diff, const struct mu_records *before,
    const struct mu_records *after);

/* Accepts one that is zero. */
void mu_diff_release(struct mu_diff *diff);

#endif
