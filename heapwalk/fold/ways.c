/*
 * Two bits a node stay in the cache, whatever the order of the edges: a table
 * of parents does not.
 */
#include "heapwalk/fold/ways.h"

#include "mu/bits.h"

#define CHARGED 4096 /* nodes */

/* No branch on what led to NODE before. */
static inline void
add_way(const struct mu_ways *ways, uint32_t node)
{
	uint64_t bit = 1ull << (node % 64), *some = &ways->some[node / 64];

	ways->several[node / 64] |= *some & bit;
	*some |= bit;
}

static inline void
add_ways_of(const struct mu_ways *ways, const struct mu_lost *lost,
    uint32_t node, struct mu_deadline *deadline)
{
	struct mu_edges edges;
	const uint32_t *at;
	uint32_t target, last = MU_NO_NODE;

	if (mu_edges_none(lost, node))
		return;
	if (mu_lost_cell(lost, node) != MU_CELL_READ) {
		at = mu_edges_stored(lost, node, &target);
		for (; (*at & MU_TARGET_LAST) == 0; at++)
			add_way(ways, *at);
		add_way(ways, *at & ~MU_TARGET_LAST);
		return;
	}
	mu_edges_open(&edges, lost, node, mu_edges_first(lost, node), deadline);
	for (; mu_edges_next(&edges, &target); last = target)
		if (target != last)
			add_way(ways, target);
}

static void
count_nodes(struct mu_ways *ways, uint32_t num_nodes)
{
	size_t i, words = (size_t)num_nodes / 64 + 1;
	uint32_t led = 0;

	ways->num_heads = 0;
	for (i = 0; i < words; i++) {
		led += mu_popcount(ways->some[i]);
		ways->num_heads += mu_popcount(ways->several[i]);
	}
	ways->num_sources = num_nodes - led;
	ways->num_heads += ways->num_sources;
}

enum mu_status
mu_ways_count(struct mu_ways *ways, const struct mu_lost *lost,
    struct mu_deadline *deadline)
{
	size_t words = (size_t)lost->num_nodes / 64 + 1;
	uint32_t node;

	ways->some = mu_lost_borrow(lost, words, sizeof(*ways->some));
	ways->several = mu_lost_borrow(lost, words, sizeof(*ways->several));
	if (ways->some == NULL || ways->several == NULL)
		return MU_ERR_NO_MEMORY;
	for (node = 0; node < lost->num_nodes && !deadline->passed; node++) {
		if (node % CHARGED == 0)
			mu_deadline_passed(deadline, CHARGED);
		add_ways_of(ways, lost, node, deadline);
	}
	count_nodes(ways, lost->num_nodes);
	return deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}
