/*
 * Who called: the return addresses on the stack of this thread.
 *
 * Rules that the unwind tables give for an address are computed once and
 * remembered; a rule is two loads. Never allocates, never takes a lock of ours,
 * safe in a signal handler.
 *
 * Runs in: the original, any thread.
 */
#ifndef STACK_CAPTURE_H
#define STACK_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frame to begin with: registers as they are after the call returned. */
struct stack_start {
	uintptr_t pc; /* the return address into it */
	uintptr_t sp, fp;
};

/* Of the caller of the function in which it stands; that has a frame pointer.
 */
#define STACK_START()                                             \
	((struct stack_start) {                                   \
	    .pc = (uintptr_t)__builtin_extract_return_addr(       \
		__builtin_return_address(0)),                     \
	    .sp = (uintptr_t)__builtin_dwarf_cfa(),               \
	    .fp = *(const uintptr_t *)__builtin_frame_address(0), \
	})

/* Before main(), when dlsym() can be called. False = no stack will be had. */
bool stack_capture_init(void);

/* Where FULL will be asked for: the compiler's unwinder is loaded, and does
 * once what it does once. False = there is none; FULL is as if not said. */
bool stack_capture_init_full(void);

/*
 * At most MAX frames, innermost first, each an address inside its call
 * instruction. FULL: by the compiler's unwinder, which knows all and is slow.
 */
static inline size_t stack_capture(
    struct stack_start start, bool full, uintptr_t *frames, size_t max);

/*
 * stack_capture() and stack_depot_put() in one, for the fast path: a stack
 * that was captured before from the same place is recognized by the words that
 * the walk would read. 0 = no memory, MU_STACK_EMPTY = nothing captured.
 */
static inline uint32_t stack_capture_unit(
    struct stack_start start, size_t max, uint16_t flags);

/* Code has gone, or other code may be in its place (dlclose). Found out
 * without it as well, only later. */
void stack_capture_forget(void);

/* In registers: a struct would be written in words and be copied in larger
 * pieces, which the CPU must wait for. */
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
