/*
 * The walk by which most stacks are captured.
 */
#include "lib/malloc_debug/unwind/stack_capture.h"

#include <dlfcn.h>
#include <unwind.h>

#include "lib/malloc_debug/unwind/module.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"
#include "lib/malloc_debug/unwind/stack_walk.h"
#include "mu/arch/unwind.h"
#include "mu/sys.h"

_Thread_local struct stack_memory stack_thread_memory
    __attribute__((tls_model("initial-exec")));

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

/*
 * Stacks by the compiler's unwinder.
 *
 * _Unwind_Backtrace() is called through pointers, so that libgcc_s.so.1 is
 * loaded into programs without it only if this is used.
 */

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

/* As stack_capture(); 0 if there is no unwinder, or START was not found. */
static size_t
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

bool
stack_capture_init(void)
{
	unwind_module_init();
	return frame_memo_init() && stack_layouts_init();
}

void
stack_capture_forget(void)
{
	frame_memo_forget();
}

extern void *__libc_stack_end; /* of the main thread: ld.so's, GLIBC_2.2.5 */

/*
 * The static TLS of other threads is in the mapping of their stack, above it
 * (glibc, allocate_stack). That of the main thread is elsewhere.
 */
static uintptr_t
top_of_stack(void)
{
	return mu_sys_gettid() == mu_sys_getpid()
	    ? (uintptr_t)__libc_stack_end
	    : (uintptr_t)&stack_thread_memory;
}

bool
stack_walk_begin(
    struct stack_walk *walk, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	static const struct stack_memory nothing;

	walk->memory = stack_thread_memory;
	stack_thread_memory = nothing;
	walk->pc = pc - MU_UNWIND_CALL;
	walk->sp = sp;
	walk->fp = fp;
	walk->fp_slot = 0;
	walk->has_link = false;
	walk->sp_known = true;
	walk->rare = false;
	walk->ended = false;
	walk->invented = false;
	if (pc < STACK_LEAST_PC || sp % 8 != 0)
		return false;
	/* The top is needed only if it is not known yet. */
	return stack_memory_begin(&walk->memory, sp,
	    stack_range_has(&walk->memory.home, sp) ? 0 : top_of_stack());
}

void
stack_walk_end(const struct stack_walk *walk)
{
	stack_thread_memory = walk->memory;
}

static size_t
walk_frames(
    struct stack_walk *walk, uint64_t generation, uintptr_t *frames, size_t max)
{
	const struct frame_memo *memo =
	    __atomic_load_n(&frame_memo, __ATOMIC_ACQUIRE);
	size_t num = 0;

	do
		frames[num++] = walk->pc;
	while (num < max &&
	    stack_walk_step(walk, frame_memo_find(memo, generation, walk->pc)));
	return num - walk->invented;
}

size_t
stack_capture_at(uintptr_t pc, uintptr_t sp, uintptr_t fp, bool full,
    uintptr_t *frames, size_t max)
{
	struct stack_walk walk;
	uint64_t generation;
	size_t num = 0;
	int tries = 0;

	if (max == 0 || frame_memo == NULL || stack_layouts == NULL)
		return 0;
	if (full)
		num = stack_capture_by_compiler(
		    (struct stack_start) { pc, sp, fp }, frames, max);
	if (num != 0)
		return num;
	/* Walk again if code changed during the walk. */
	do {
		generation = frame_memo_now();
		if (stack_walk_begin(&walk, pc, sp, fp))
			num = walk_frames(&walk, generation, frames, max);
		stack_walk_end(&walk);
	} while (generation != frame_memo_now() && ++tries < 3);
	return num;
}
