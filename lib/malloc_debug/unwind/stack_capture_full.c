/*
 * _Unwind_Backtrace() is called through pointers, so that libgcc_s.so.1 is
 * loaded into programs without it only if this is used.
 */
#include "lib/malloc_debug/unwind/stack_capture_full.h"

#include <dlfcn.h>
#include <unwind.h>

#include "lib/malloc_debug/unwind/stack_walk.h"
#include "mu/arch/unwind.h"

struct unwinder {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	_Unwind_Word (*get_cfa)(struct _Unwind_Context *);
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *, int *);
};

static struct unwinder unwinder; /* written by init only */

struct trace {
	struct stack_start start;
	uintptr_t *frames;
	size_t num, max;
	bool met;
};

/* The unwinder returns the CFA of the callee, which is the sp of this frame. */
static _Unwind_Reason_Code
add_frame(struct _Unwind_Context *context, void *ctx)
{
	struct trace *trace = ctx;
	int before = 0;
	uintptr_t pc = unwinder.get_ip(context, &before);

	trace->met |= unwinder.get_cfa(context) == trace->start.sp;
	if (!trace->met)
		return _URC_NO_REASON;
	if (trace->num == trace->max || pc < STACK_LEAST_PC)
		return _URC_NORMAL_STOP;
	trace->frames[trace->num++] = before ? pc : pc - MU_UNWIND_CALL;
	return _URC_NO_REASON;
}

static bool
is_no_call(uintptr_t pc)
{
	const struct frame_memo *memo =
	    __atomic_load_n(&frame_memo, __ATOMIC_ACQUIRE);

	return memo != NULL &&
	    rule_kind(frame_memo_find(memo, frame_memo_now(), pc)) ==
	    FRAME_NO_CALL;
}

size_t
stack_capture_by_compiler(
    struct stack_start start, uintptr_t *frames, size_t max)
{
	struct trace trace = { start, frames, 0, max, false };

	if (unwinder.backtrace != NULL)
		unwinder.backtrace(add_frame, &trace);
	if (trace.num > 0 && is_no_call(frames[trace.num - 1]))
		trace.num--;
	return trace.num;
}

bool
stack_capture_init_full(void)
{
	uintptr_t frames[4];
	void *library = RTLD_DEFAULT;
	struct unwinder found;

	/* RTLD_DEFAULT is NULL. */
	if (dlsym(library, "_Unwind_GetIPInfo") == NULL &&
	    (library = dlopen("libgcc_s.so.1", RTLD_NOW)) == NULL)
		return false;
	found.get_cfa = (_Unwind_Word(*)(struct _Unwind_Context *))dlsym(
	    library, "_Unwind_GetCFA");
	found.get_ip = (_Unwind_Ptr(*)(struct _Unwind_Context *, int *))dlsym(
	    library, "_Unwind_GetIPInfo");
	found.backtrace = (_Unwind_Reason_Code(*)(
	    _Unwind_Trace_Fn, void *))dlsym(library, "_Unwind_Backtrace");
	if (found.get_cfa == NULL || found.get_ip == NULL ||
	    found.backtrace == NULL)
		return false;
	unwinder = found;
	/* Make it do its one-time set-up now. */
	stack_capture_by_compiler(STACK_START(), frames, 4);
	return true;
}
