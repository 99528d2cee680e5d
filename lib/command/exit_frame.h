/*
 * Where the stack of the thread that ends a program begins: where it called
 * exit(). Below that lie frames of libc, and between their words those of
 * functions that have returned, such as main().
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_EXIT_FRAME_H
#define LIB_COMMAND_EXIT_FRAME_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"

/*
 * Set the stack pointer of each thread of SNAP that is in exit() to that place.
 * The threads are stopped at their end. exit() is found by its name, in the
 * file that has it or in that of its debug information: without a name, or if
 * the frames do not fit it, the stack pointer stays. Memory is from ARENA.
 */
void mu_exit_frame_find(struct mu_snapshot *snap, struct mu_arena *arena);

#endif
