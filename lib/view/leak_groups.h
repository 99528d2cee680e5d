/*
 * Group blocks by stack.
 *
 * Pure.
 */
#ifndef LIB_VIEW_LEAK_GROUPS_H
#define LIB_VIEW_LEAK_GROUPS_H

#include "lib/view/records.h"

struct mu_leak_group {
	uint64_t bytes, blocks;
	const struct mu_record *last; /* the last one in the file */
};

struct mu_leak_groups {
	struct mu_leak_group *list; /* by bytes, descending */
	size_t count;
	uint64_t bytes, blocks; /* of all */
};

/* Returns false without memory. RECORDS must stay valid until the release. */
bool mu_leak_groups_make(
    struct mu_leak_groups *groups, const struct mu_records *records);

/* Accepts one that is zero. */
void mu_leak_groups_release(struct mu_leak_groups *groups);

#endif
