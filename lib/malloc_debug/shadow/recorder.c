#include "lib/malloc_debug/shadow/recorder.h"

#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/unwind/stack_depot.h"

static struct recorded_block
block_of(uintptr_t begin, uint32_t word, size_t size)
{
	return (struct recorded_block) {
		.begin = begin,
		.size = size,
		.stack = mu_shadow_stack(word),
		.kind = mu_shadow_kind(word),
		.freed = (word & MU_SHADOW_FREED) != 0,
	};
}

struct visitor {
	bool (*visit)(void *ctx, const struct recorded_block *block);
	void *ctx;
};

static bool
visit_block(void *ctx, uintptr_t begin, uint32_t word, size_t size)
{
	const struct visitor *visitor = ctx;
	struct recorded_block block = block_of(begin, word, size);

	return block.stack == RECORDER_BARE ||
	    visitor->visit(visitor->ctx, &block);
}

void
recorder_each(
    bool (*visit)(void *ctx, const struct recorded_block *block), void *ctx)
{
	struct visitor visitor = { visit, ctx };

	live_each(visit_block, &visitor);
}

bool
recorder_find(const void *pointer, struct recorded_block *block)
{
	uint32_t word = live_directory == NULL ? 0 : live_word(pointer);

	if (word == 0 || mu_shadow_stack(word) == RECORDER_BARE)
		return false;
	*block = block_of((uintptr_t)pointer, word, live_size(pointer));
	return true;
}

bool
recorder_stack_child(uint32_t stack)
{
	const struct mu_stack *found;

	if (stack < MU_STACK_FIRST)
		return stack == MU_STACK_OFF_CHILD ||
		    stack == MU_STACK_EMPTY_CHILD;
	found = stack_depot_get(stack);
	return found != NULL && (found->flags & MU_STACK_CHILD) != 0;
}
