/*
 * Group blocks by stack.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_LEAK_GROUPS_H
#define LIB_VIEW_LEAK_GROUPS_H

#include "lib/view/records.h"
#include "lib/view/sorter.h"

/* Zero at first. */
struct mu_leak_groups {
	struct mu_sorter leaks;  /* by stack, the last in the file first */
	struct mu_sorter sorted; /* groups by bytes, descending */
	size_t count;
	uint64_t bytes, blocks; /* of all */
};

/* Add a block, with numbers for frames. Returns false without memory. */
bool mu_leak_groups_add(
    struct mu_leak_groups *groups, const struct mu_record *record);

/*
 * Make groups when all blocks are added. MU_OK; MU_ERR_NO_MEMORY, with the
 * cause in WHY.
 */
enum mu_status mu_leak_groups_make(
    struct mu_leak_groups *groups, struct mu_why *why);

/*
 * The next group: the stack, the bytes and the count of all blocks, and the
 * number and time of the last one. False: there is no more; or it was not read,
 * as mu_sorter_end() says. Begin by mu_sorter_begin().
 */
bool mu_leak_groups_next(
    struct mu_leak_groups *groups, struct mu_record *group);

/* Accepts one that is zero. */
void mu_leak_groups_release(struct mu_leak_groups *groups);

#endif
