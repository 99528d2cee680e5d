#include "heapwalk/fold/lists.h"

#define REST_EACH 72 /* bytes of a tree that folding takes besides */

void
mu_lists_open(struct mu_lists *lists, uint32_t max, size_t num_targets,
    struct mu_arena *arena)
{
	size_t refused = arena->refused, left = arena->limit - arena->used;
	size_t room = num_targets + MU_LISTS_AHEAD, each = sizeof(uint32_t);

	*lists = (struct mu_lists) { .num_targets = (uint32_t)num_targets };
	if (room > UINT32_MAX ||
	    room * each + max * (2 * each + REST_EACH) > left)
		return;
	lists->first =
	    mu_arena_alloc_table(arena, (size_t)max + 1, sizeof(*lists->first));
	lists->trees = mu_arena_alloc_table(arena, max, sizeof(*lists->trees));
	lists->targets =
	    mu_arena_alloc_table(arena, room, sizeof(*lists->targets));
	arena->refused = refused;
	if (lists->trees == NULL || lists->targets == NULL)
		lists->first = NULL;
}
