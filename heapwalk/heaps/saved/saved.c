#include "heapwalk/heaps/saved/saved.h"

#include "heapwalk/subject/saved.h"

static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	(void)arena;
	(void)why;
	member->state = (void *)snap->saved;
	return MU_OK;
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_saved *saved = member->state;
	struct mu_blocks *blocks = &heap->blocks;

	(void)snap;
	(void)arena;
	blocks->spans = saved->blocks->spans;
	blocks->num_spans = saved->blocks->num_spans;
	blocks->listed = saved->blocks->listed;
	blocks->num_listed = saved->blocks->num_listed;
	heap->usage = *saved->usage;
	if (mu_blocks_seal(blocks, NULL) != MU_OK)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "the saved look is damaged: its heap overlaps");
	return MU_OK;
}

const struct mu_heap_ops mu_heap_saved = {
	.name = "saved",
	.detect = detect,
	.list = list,
};
