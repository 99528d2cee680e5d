#include "heapwalk/fold/targets.h"

#define ROOM_SHARE 4 /* lists take at most that share of what is left */

void
mu_target_lists_open(struct mu_target_lists *lists,
    const struct mu_components *components, struct mu_arena *arena)
{
	size_t count = (size_t)components->num_components + 1;
	size_t bytes = (count + components->num_edges) * sizeof(uint32_t);
	const struct mu_lost *lost = components->trees.lost;
	size_t refused = arena->refused;

	*lists = (struct mu_target_lists) { .lists = NULL };
	if (lost->cells == NULL || lost->graph->reads ||
	    components->num_edges > UINT32_MAX ||
	    bytes > (arena->limit - arena->used) / ROOM_SHARE)
		return;
	lists->lists =
	    mu_arena_alloc_table(arena, count, sizeof(*lists->lists));
	lists->listed = mu_arena_alloc_table(
	    arena, components->num_edges, sizeof(*lists->listed));
	arena->refused = refused;
	if (lists->listed == NULL)
		lists->lists = NULL;
}
