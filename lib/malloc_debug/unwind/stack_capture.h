/*
 * Capture the return addresses on the stack of this thread.
 *
 * Rules from the unwind tables are computed once for each address and cached; a
 * cached rule costs two loads. Never allocates, takes no lock of ours, and is
 * safe in a signal handler.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first frame: registers as they are after the return to it. */
struct stack_start {
	uintptr_t pc; /* the return address into it */
	uintptr_t sp, fp;
};

/*
 * The caller of the function that contains this macro; that function has a
 * frame pointer.
 */
#define STACK_START()                                             \
	((struct stack_start) {                                   \
	    .pc = (uintptr_t)__builtin_extract_return_addr(       \
		__builtin_return_address(0)),                     \
	    .sp = (uintptr_t)__builtin_dwarf_cfa(),               \
	    .fp = *(const uintptr_t *)__builtin_frame_address(0), \
	})

/*
 * Call before main(), when dlsym() can be called. False = no stack can be
 * captured.
 */
bool stack_capture_init(void);

/*
 * Prepare FULL captures: load the compiler's unwinder and make it do its
 * one-time set-up. False = there is none; FULL is ignored then.
 */
bool stack_capture_init_full(void);

/*
 * Capture at most MAX frames, innermost first, each an address inside its call
 * instruction. FULL: use the compiler's unwinder, which is complete but slow.
 */
static inline size_t stack_capture(
    struct stack_start start, bool full, uintptr_t *frames, size_t max);

/*
 * stack_capture() and stack_depot_put() combined for the fast path: a stack
 * that was captured before from the same address is recognised by the words
 * that the walk would read. 0 = no memory, MU_STACK_EMPTY = nothing captured.
 */
static inline uint32_t stack_capture_unit(
    struct stack_start start, size_t max, uint16_t flags);

/*
 * Discard cached rules: dlclose() has removed code, and other code may replace
 * it. Without this call the change is detected later.
 */
void stack_capture_forget(void);

/*
 * Arguments are passed in registers: a struct would be written in words and
 * copied in larger pieces, which stalls the CPU.
 */
size_t stack_capture_at(uintptr_t pc, uintptr_t sp, uintptr_t fp, bool full,
    uintptr_t *frames, size_t max);
uint32_t stack_capture_unit_at(
    uintptr_t pc, uintptr_t sp, uintptr_t fp, size_t max, uint16_t flags);

static inline size_t
stack_capture(
    struct stack_start start, bool full, uintptr_t *frames, size_t max)
{
	return stack_capture_at(
	    start.pc, start.sp, start.fp, full, frames, max);
}

static inline uint32_t
stack_capture_unit(struct stack_start start, size_t max, uint16_t flags)
{
	return stack_capture_unit_at(start.pc, start.sp, start.fp, max, flags);
}

#endif
