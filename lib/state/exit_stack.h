/*
 * Find where the live stack begins in a thread that has called exit() or
 * returned from main().
 *
 * Exit handlers run below the frames of exit(). Words in unused parts of libc's
 * frames there come from functions that have returned, including main(), and
 * are no references.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_EXIT_STACK_H
#define LIB_STATE_EXIT_STACK_H

#include "mu/range.h"

struct mu_caller;

struct mu_exit_stack {
	struct mu_range code; /* of the C library, which has exit() */
	uintptr_t top;        /* frames of the first thread's stack are below */
	uintptr_t from, tp;   /* of mu_exit_stack_begin(); or 0 */
};

/* Call in the constructor. */
void mu_exit_stack_note(struct mu_exit_stack *stack);

/*
 * The address from which on the calling thread's stack is in use; or 0 if no
 * caller of exit() is found above SP, the stack pointer of an exit handler. TP
 * is the thread pointer. If main() returned, the address is the stack pointer
 * of the function in libc that called main(); otherwise it includes the
 * registers that exit() saved for its caller, which may hold pointers.
 */
uintptr_t mu_exit_stack_find(
    const struct mu_exit_stack *stack, uintptr_t sp, uintptr_t tp);

/* Let the stack of CALLER, an exit handler, begin at that address from now on.
 */
void mu_exit_stack_begin(
    struct mu_exit_stack *stack, const struct mu_caller *caller);

/* Where the stack of CALLER begins. */
uintptr_t mu_exit_stack_sp(
    const struct mu_exit_stack *stack, const struct mu_caller *caller);

#endif
