/*
 * Stacks that were seen before, for entries to have inline.
 *
 * Runs in: the original, any thread.
 */
#ifndef STACK_CAPTURE_KNOWN_H
#define STACK_CAPTURE_KNOWN_H

#include "lib/malloc_debug/frame_memo.h"
#include "lib/malloc_debug/stack_capture_memory.h"
#include "lib/malloc_debug/stack_layouts.h"
#include "lib/malloc_debug/stack_walk.h"

/*
 * As stack_capture_unit_at(), CONFIG being stack_layout_config() of MAX and
 * FLAGS; 0 where that has to be asked.
 */
static inline __attribute__((always_inline)) uint32_t
stack_capture_known(uintptr_t pc, uintptr_t sp, uintptr_t fp, uint64_t config)
{
	const struct stack_range *home = &stack_thread_memory.home;
	struct stack_layouts *all = stack_layouts;
	const struct mu_stack *layout;
	uint64_t wanted, hash;

	/* Once that is known, the layouts are there. */
	if (__builtin_expect(!stack_range_has(home, sp), 0))
		return 0;
	wanted = stack_layout_wanted(config, frame_memo_now());
	layout = stack_layout_find(all, stack_layout_key(wanted, pc, sp));
	if (__builtin_expect(layout == NULL, 0))
		return 0;
	hash = stack_layout_hash(
	    all, layout, wanted, pc, sp, fp, (home->high - sp) / 8);
	return (uint32_t)stack_known_get(stack_known_set(all, hash), hash);
}

/* The same, where that found nothing: it takes as long again. */
uint32_t stack_capture_known_else(
    uintptr_t pc, uintptr_t sp, uintptr_t fp, uint64_t config);

#endif
