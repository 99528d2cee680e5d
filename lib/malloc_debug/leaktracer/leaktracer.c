/*
 * The time comes from libc's clock_gettime(), which the vDSO answers without a
 * system call.
 */
#include "lib/malloc_debug/leaktracer/leaktracer.h"

#include <time.h>

#include "lib/malloc_debug/leaktracer/late.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sys.h"

size_t leaktracer_frames = 16; /* enough to see the callers of nested
				  wrappers */

static uint64_t
now_ns(void)
{
	struct timespec now = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * MU_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

void
leaktracer_publish(void)
{
	struct mu_recorded *recorded = &memunreachable_recorded;

	if (recorded->max_frames < leaktracer_frames)
		recorded->max_frames = (uint32_t)leaktracer_frames;
	__atomic_or_fetch(
	    &recorded->flags, MU_RECORDED_LEAKTRACER, __ATOMIC_RELEASE);
}

uint32_t
leaktracer_tag(uint32_t stack)
{
	if (!leaktracer_wants())
		return 0;
	return stack_depot_slot(stack, now_ns());
}

void
leaktracer_untag(uint32_t unit, const void *pointer, size_t size)
{
	const struct mu_stack_slot *slot = stack_depot_slot_get(unit);

	if (slot == NULL)
		return;
	if (!leaktracer_releases() && slot->time_ns >= leaktracer_since())
		leaktracer_late_add(slot, pointer, size);
	stack_depot_slot_free(unit);
}

uint32_t
leaktracer_retag(uint32_t unit, uint32_t stack)
{
	uint32_t fresh = leaktracer_tag(stack);

	if (fresh == 0)
		return unit;
	if (stack_depot_slot_get(unit) != NULL)
		stack_depot_slot_free(unit);
	return fresh;
}

static void
drop_freed(void)
{
	if (!leaktracer_releases())
		leaktracer_late_drop();
}

void
leaktracer_monitor_all(void)
{
	drop_freed();
	leaktracer_start_all();
}

void
leaktracer_monitor_thread(void)
{
	drop_freed();
	leaktracer_start_thread();
}
