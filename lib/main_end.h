/*
 * Where the stack of a thread begins that has returned from main().
 *
 * Exit handlers run below the frame of the function in libc that called main()
 * and hands its result to exit(). What lies between is main()'s dead frame, in
 * holes of exit()'s frames, which hold nothing of the program's.
 *
 * Runs in: original.
 */
#ifndef LIB_MAIN_END_H
#define LIB_MAIN_END_H

#include "mu/range.h"

struct mu_main_end {
	struct mu_range code; /* of the C library, where exit() is */
	uintptr_t top;        /* the first stack has its frames below */
};

/* In the constructor. */
void mu_main_end_note(struct mu_main_end *end);

/*
 * The stack pointer of the function that called exit() with main()'s result,
 * or 0: SP, of an exit handler, is not below such a call. A program that calls
 * exit() itself is none: registers of its functions may be saved in the frames
 * of exit().
 */
uintptr_t mu_main_end_find(const struct mu_main_end *end, uintptr_t sp);

#endif
