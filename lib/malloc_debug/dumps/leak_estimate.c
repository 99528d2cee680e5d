#include "lib/malloc_debug/dumps/leak_estimate.h"

#include "lib/malloc_debug/shadow/sampling.h"

bool
leak_estimate_captured(uint32_t stack)
{
	return stack != MU_STACK_NONE && stack != MU_STACK_OFF &&
	    stack != MU_STACK_OFF_CHILD;
}

bool
leak_estimate_wanted(const struct recorded_block *block)
{
	return recorder_options.sample_bytes == 0 ||
	    leak_estimate_captured(block->stack);
}

void
leak_estimate(struct leak_blocks *blocks)
{
	struct leak_block *block;
	size_t i;

	if (recorder_options.sample_bytes == 0)
		return;
	for (i = 0; i < blocks->count; i++) {
		block = &blocks->blocks[i];
		block->count = (size_t)sampling_estimate(
		    block->size, block->count, recorder_options.sample_bytes);
	}
}
