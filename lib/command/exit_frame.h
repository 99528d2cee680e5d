/*
 * Where the stack of a thread that ends a program begins: where it called
 * exit(), _exit(), quick_exit(), abort(), raise() or kill(). Below that lie
 * frames of libc, and between their words those of functions that have
 * returned, such as main().
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_EXIT_FRAME_H
#define LIB_COMMAND_EXIT_FRAME_H

#include "heapwalk/subject/snapshot.h"
#include "lib/command/known_functions.h"
#include "mu/arena.h"

/*
 * Set the stack pointer and the registers of the first threads of SNAP to those
 * at that place; of a thread elsewhere, set the stack pointer so that the red
 * zone, which counts as alive, is left out if its function has none. The
 * threads are stopped at their end. Functions are found by their names, in the
 * file that has them or in that of its debug information; exit() also by its
 * code. If neither is known the stack pointer stays. What is found is added to
 * KNOWN. Memory is from ARENA.
 */
void mu_exit_frame_find(struct mu_snapshot *snap,
    struct mu_known_functions *known, struct mu_arena *arena);

#endif
