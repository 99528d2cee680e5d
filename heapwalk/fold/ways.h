/* How many edges lead to each lost node: none, one, or several. */
#ifndef HEAPWALK_FOLD_WAYS_H
#define HEAPWALK_FOLD_WAYS_H

#include "heapwalk/graph/lost.h"

struct mu_ways {
	uint64_t *some, *several; /* bits of the nodes that so many lead to */
	uint32_t num_sources;     /* nodes that nothing leads to */
	uint32_t num_heads;       /* and those that several edges lead to */
};

/*
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT. WAYS borrows memory from LOST. The work is
 * charged to DEADLINE.
 */
enum mu_status mu_ways_count(struct mu_ways *ways, const struct mu_lost *lost,
    struct mu_deadline *deadline);

#endif
