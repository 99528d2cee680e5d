/*
 * Blocks with the same stack together.
 *
 * Pure.
 */
#ifndef LIB_VIEW_LEAK_GROUPS_H
#define LIB_VIEW_LEAK_GROUPS_H

#include "lib/view/records.h"

struct mu_leak_group {
	uint64_t bytes, blocks;
	const struct mu_record *last; /* in the file */
};

struct mu_leak_groups {
	struct mu_leak_group *list; /* the most bytes first */
	size_t count;
	uint64_t bytes, blocks; /* of all */
};

/* False: no memory. RECORDS are borrowed until the release. */
bool mu_leak_groups_make(
    struct mu_leak_groups *groups, const struct mu_records *records);

/* Accepts one that is zero. */
void mu_leak_groups_release(struct mu_leak_groups *groups);

#endif
