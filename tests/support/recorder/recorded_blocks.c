#include "tests/support/recorder/recorded_blocks.h"
#define MADE_APART 256
#define MADE_MOST 4096

static size_t made_count;

void
made_begin(void)
{
	if (live_directory == NULL) {
		ck_assert(live_init(false));
		ck_assert(stack_depot_init());
	}
	recorder_options = (struct debug_options) {
		.backtrace = true,
		.tracking = true,
		.frames = 16,
		.max_size = SIZE_MAX,
	};
	recorder_child = false;
	made_count = 0;
}

void
made_end(void)
{
	while (made_count > 0)
		live_take((void *)(MADE_AT + --made_count * MADE_APART));
	recorder_options = (struct debug_options) { 0 };
}

static uintptr_t
made_next(void)
{
	return MADE_AT + made_count * MADE_APART;
}

uintptr_t
made_of_stack(size_t size, uint32_t stack)
{
	uintptr_t begin = made_next();

	ck_assert_uint_lt(made_count, MADE_MOST);
	ck_assert(live_put(
	    (void *)begin, size, mu_shadow_word(stack, MU_BLOCK_MALLOC)));
	made_count++;
	return begin;
}

uintptr_t
made(size_t size, uintptr_t first, size_t frames, uint16_t flags)
{
	uintptr_t stack[MU_STACK_MAX_FRAMES];
	size_t i;

	for (i = 0; i < frames; i++)
		stack[i] = first + i;
	return made_of_stack(size, stack_depot_put(stack, frames, flags));
}
