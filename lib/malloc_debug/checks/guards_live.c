#include "lib/malloc_debug/checks/guards_live.h"

#include "lib/malloc_debug/checks/block.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/shadow/gate.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "lib/malloc_debug/unwind/stack_capture_memory.h"
#include "mu/sys.h"

/*
 * A release that was in progress when the gate was closed finishes soon. While
 * a block is being resized its guard and size disagree until its thread gets a
 * CPU, so damage is confirmed by a second look.
 */
#define SETTLE_NS (200 * 1000ull)
#define SURELY_NS (MU_NS_PER_SEC / 10)

/* A block whose release was in progress may be unmapped now. */
static bool
is_there(const struct recorded_block *block)
{
	uintptr_t end =
	    block->begin + block->size + recorder_options.rear_guard;

	return stack_memory_probe(
		   block->begin - recorder_options.front_guard) &&
	    stack_memory_probe((end - 1) & ~(uintptr_t)7);
}

struct look {
	bool report; /* otherwise only find out whether there is damage */
	bool damaged;
};

static bool
look_at(void *ctx, const struct recorded_block *block)
{
	const void *begin = (const void *)block->begin;
	uint32_t word = live_word(begin), tag = 0;
	struct look *look = ctx;
	struct error_block found;
	bool tagged;

	if (block->freed || !guards_around(word) || !is_there(block))
		return true;
	found = block_error(begin, word);
	tagged = guards_tag(begin, GUARDS_LIVE, &tag);
	if (tagged && error_guards_good(&found))
		return true;
	look->damaged = true;
	if (look->report && !tagged)
		error_tag(NULL, &found, tag);
	else if (look->report)
		error_check_guards(NULL, &found);
	return look->report;
}

void
guards_check_live(void)
{
	const struct debug_options *options = &recorder_options;
	struct look look = { false, false };

	if (options->front_guard == 0 && options->rear_guard == 0)
		return;
	gate_close();
	mu_sys_sleep_ns(SETTLE_NS);
	recorder_each(look_at, &look);
	if (look.damaged) {
		mu_sys_sleep_ns(SURELY_NS);
		look.report = true;
		recorder_each(look_at, &look);
	}
	gate_open();
}
