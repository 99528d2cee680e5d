/*
 * Some owners of each group in the answer, evenly spread, besides its example:
 * their blocks may show what that of the example does not.
 */
#ifndef HEAPWALK_FOLD_MEMBERS_H
#define HEAPWALK_FOLD_MEMBERS_H

#include "heapwalk/fold/groups.h"

struct mu_members {
	uint32_t seen, count;
	uint32_t places[MU_GROUP_OTHERS]; /* mu_lost_place() */
};

/*
 * Choose them, once the groups in the answer have ranks. Groups of blocks of
 * several sizes have none. Returns false if memory is exhausted.
 */
bool mu_members_find(struct mu_groups *groups);

/* List those of the INDEX-th group in the answer in GROUP. */
void mu_members_describe(
    const struct mu_groups *groups, size_t index, struct mu_lost_group *group);

#endif
