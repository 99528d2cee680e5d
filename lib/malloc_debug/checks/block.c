#include "lib/malloc_debug/checks/block.h"

#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/checks/quarantine.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/state/state.h"

size_t
block_usable(const void *block, uint32_t word)
{
	size_t size = live_size(block), usable, before;
	char *raw;

	if (guards_noted() && mu_shadow_stack(word) != RECORDER_BARE)
		return recorder_options.rear_guard != 0
		    ? size /* the guard follows */
		    : size + recorder_options.expand_alloc;
	raw =
	    guards_around(word) ? guards_raw(block) : (char *)(uintptr_t)block;
	before = (size_t)((const char *)block - raw);
	usable = real.malloc_usable_size(raw);
	return usable < size + before ? size : usable - before;
}

struct error_block
block_error(const void *block, uint32_t word)
{
	return (struct error_block) {
		.begin = block,
		.size = live_size(block),
		.stack = mu_shadow_stack(word),
		.freed =
		    (word & MU_SHADOW_FREED) != 0 ? quarantine_stack(block) : 0,
	};
}

void
block_release(void *block)
{
	uint32_t word = live_word(block);
	void *raw = guards_around(word) ? guards_raw(block) : block;

	live_take(block);
	real.free(raw);
}
