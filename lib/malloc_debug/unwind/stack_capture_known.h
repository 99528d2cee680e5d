/*
 * Recognise stacks that were captured before; inline in the entry points.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_KNOWN_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_KNOWN_H

#include "lib/malloc_debug/unwind/frame_memo.h"
#include "lib/malloc_debug/unwind/stack_capture_memory.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"
#include "lib/malloc_debug/unwind/stack_walk.h"

/*
 * As stack_capture_unit_at(); CONFIG is stack_layout_config() of MAX and FLAGS.
 * 0: call that function.
 */
static inline __attribute__((always_inline)) uint32_t
stack_capture_known(uintptr_t pc, uintptr_t sp, uintptr_t fp, uint64_t config)
{
	const struct stack_range *home = &stack_thread_memory.home;
	struct stack_layouts *all = stack_layouts;
	const struct mu_stack *layout;
	uint64_t wanted, hash;

	/* If the stack of this thread is known, the layouts are mapped. */
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

/* Call after stack_capture_known() found nothing; it takes as long again. */
uint32_t stack_capture_known_else(
    uintptr_t pc, uintptr_t sp, uintptr_t fp, uint64_t config);

#endif
