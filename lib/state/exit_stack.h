/*
 * Where the live stack begins in a thread that has called exit() or returned
 * from main().
 *
 * Exit handlers run below the frames of exit(). What lies there in holes of
 * libc's frames was left by functions that have returned, main() among them,
 * and is nothing that the program still uses.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_EXIT_STACK_H
#define LIB_STATE_EXIT_STACK_H

#include "mu/range.h"

struct mu_exit_stack {
	struct mu_range code; /* of the C library, where exit() is */
	uintptr_t top;        /* the first stack has its frames below */
};

/* In the constructor. */
void mu_exit_stack_note(struct mu_exit_stack *stack);

/*
 * From where on the calling thread's stack is in use, or 0: nothing that calls
 * exit() is seen above SP, of an exit handler whose thread pointer is TP. With
 * main()'s result it is the stack pointer of the function in libc that called
 * main(), else the registers that the caller of exit() may have pointers in,
 * where exit() saved them, and what is above.
 */
uintptr_t mu_exit_stack_find(
    const struct mu_exit_stack *stack, uintptr_t sp, uintptr_t tp);

#endif
