#include "tests/support/recorder/stack_compare.h"

struct compared compared;

struct compare_trace {
	uintptr_t frames[COMPARE_MAX];
	size_t num;
};

/* The first byte of a function that no other ends before: a coroutine's first
 * function returns there, and was called by no one. Looks at pc - 1. */
static bool
compare_is_none(uintptr_t pc)
{
	return _Unwind_FindEnclosingFunction((void *)pc) == NULL &&
	    _Unwind_FindEnclosingFunction((void *)(pc + 1)) == (void *)pc;
}

static _Unwind_Reason_Code
compare_add(struct _Unwind_Context *context, void *ctx)
{
	struct compare_trace *trace = ctx;
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(context, &before);

	if (trace->num == COMPARE_MAX || pc == 0 ||
	    (!before && compare_is_none(pc)))
		return _URC_NORMAL_STOP;
	trace->frames[trace->num++] = before ? pc : pc - MU_UNWIND_CALL;
	return _URC_NO_REASON;
}

static void
compare_frames(const uintptr_t *ours, size_t num_ours, const uintptr_t *theirs,
    size_t num_theirs)
{
	size_t i;

	ck_assert_uint_gt(num_theirs, 0);
	for (i = 0; i < num_theirs && i < num_ours; i++)
		ck_assert_msg(ours[i] == theirs[i],
		    "frame %zu of %zu: %#lx, not %#lx", i, num_theirs, ours[i],
		    theirs[i]);
	ck_assert_uint_eq(num_ours, num_theirs);
}

static void
compare_unit(uint32_t unit, const uintptr_t *frames, size_t num)
{
	const struct mu_stack *stack = stack_depot_get(unit);

	ck_assert_ptr_nonnull(stack);
	compare_frames(
	    (const uintptr_t *)stack->frames, stack->num_frames, frames, num);
}

__attribute__((noinline)) void
compare_here(void)
{
	struct stack_start start = STACK_START();
	struct compare_trace trace = { .num = 0 };
	const uintptr_t *theirs = trace.frames + 1;
	uintptr_t frames[COMPARE_MAX];
	size_t num, max;
	uint32_t unit;

	_Unwind_Backtrace(compare_add, &trace);
	num = trace.num - 1; /* without this function itself */
	compare_frames(frames, stack_capture(start, false, frames, COMPARE_MAX),
	    theirs, num);
	memcpy(compared.frames, frames, num * sizeof(*frames));
	compared.num = num;
	compared.times++;
	compare_frames(frames, stack_capture(start, true, frames, COMPARE_MAX),
	    theirs, num);
	for (max = 1; max <= MU_STACK_MAX_FRAMES; max *= 4) {
		size_t fewer = num < max ? num : max;

		unit = stack_capture_unit(start, max, 0);
		compare_unit(unit, theirs, fewer);
		ck_assert_uint_eq(stack_capture_unit(start, max, 0), unit);
		ck_assert_uint_eq(stack_capture_unit(start, max, 0), unit);
		compare_frames(frames, stack_capture(start, false, frames, max),
		    theirs, fewer);
	}
}

void
compare_setup(void)
{
	ck_assert(stack_depot_init());
	ck_assert(stack_capture_init());
	ck_assert(stack_capture_init_full());
	compared.times = 0;
}
