/* Blocks that are alone: they are no nodes of the lost graph. */
#include "heapwalk/graph/lost.h"

#include "heapwalk/graph/lost_opening.h"

#define ALONE_SHARE 8 /* of the lost nodes have no edges: some may be alone */

/* Set the bits of NODE and of those that it leads to, if it leads to any. */
static inline void
join_targets(const struct mu_lost *lost, uint32_t node, uint64_t *joined)
{
	uint32_t cell = lost->cells[node], target;
	const uint32_t *at;
	bool last = false;

	if (cell == MU_CELL_NONE)
		return;
	if ((cell & MU_CELL_ONE) != 0) {
		target = cell & ~MU_CELL_ONE;
		if (!mu_is_lost(lost, target))
			return;
		mu_bit_set(joined, target);
		mu_bit_set(joined, node);
		return;
	}
	for (at = &lost->graph->targets[cell - 1]; !last;) {
		if (!mu_lost_read_edge(lost, &at, &target, &last))
			continue;
		mu_bit_set(joined, target);
		mu_bit_set(joined, node);
	}
}

/* The lost nodes without any edges; those that others lead to are included. */
static size_t
count_ends(const struct mu_lost *lost)
{
	size_t i, groups = mu_lost_groups(lost->graph), count = 0;
	uint64_t bits;

	for (i = 0; i < groups; i++)
		for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
			count +=
			    lost->cells[i * MU_LOST_GROUP +
				(size_t)__builtin_ctzll(bits)] == MU_CELL_NONE;
	return count;
}

/* Room for the bits and the ranks of what is alone; false without it. */
static bool
make_room(struct mu_lost *lost)
{
	struct mu_arena *arena = lost->graph->arena;
	size_t groups = mu_lost_groups(lost->graph), refused = arena->refused;

	lost->alone = mu_arena_alloc(arena, groups, sizeof(*lost->alone));
	lost->alone_ranks =
	    mu_arena_alloc(arena, groups + 1, sizeof(*lost->alone_ranks));
	arena->refused = refused;
	if (lost->alone_ranks == NULL)
		lost->alone = NULL;
	return lost->alone != NULL;
}

void
mu_lost_set_apart(struct mu_lost *lost, struct mu_deadline *deadline)
{
	const struct mu_graph *graph = lost->graph;
	size_t i, groups = mu_lost_groups(graph);
	uint64_t bits, joined;

	if (lost->cells == NULL || graph->reads ||
	    graph->blocks->recorder != NULL ||
	    count_ends(lost) <= lost->num_nodes / ALONE_SHARE ||
	    !make_room(lost))
		return;
	for (i = 0; i < groups; i++)
		for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
			join_targets(lost,
			    (uint32_t)(i * MU_LOST_GROUP) +
				(uint32_t)__builtin_ctzll(bits),
			    lost->alone);
	/* Parts of a block that is left out are no blocks. */
	for (i = graph->num_blocks; i < graph->num_nodes; i++)
		mu_bit_set(lost->alone, i);
	for (i = 0; i < groups; i++) {
		joined = lost->alone[i];
		lost->alone[i] = lost->bits[i] & ~joined;
		lost->bits[i] &= joined;
	}
	mu_deadline_passed(deadline, graph->num_nodes);
	lost->num_nodes = mu_lost_rank(graph, lost->bits, lost->firsts);
	lost->num_alone = mu_lost_rank(graph, lost->alone, lost->alone_ranks);
	if (lost->num_alone == 0)
		lost->alone = NULL;
}

uint32_t
mu_lost_alone_rank(const struct mu_lost *lost, uint32_t number)
{
	uint64_t before = lost->alone[number / MU_LOST_GROUP] &
	    ((1ull << (number % MU_LOST_GROUP)) - 1);

	return lost->alone_ranks[number / MU_LOST_GROUP] + mu_popcount(before);
}

void
mu_lost_each_alone(const struct mu_lost *lost,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx)
{
	if (lost->alone != NULL)
		mu_blocks_each_of(lost->graph->blocks, lost->alone, visit, ctx);
}

uint32_t
mu_lost_place(const struct mu_lost *lost, uint32_t node)
{
	return lost->alone == NULL ? node : mu_lost_number(lost, node);
}

uint32_t
mu_lost_at(const struct mu_lost *lost, uint32_t place)
{
	if (lost->alone == NULL)
		return place;
	return mu_bit(lost->alone, place) ? MU_NO_NODE
					  : mu_lost_node(lost, place);
}
