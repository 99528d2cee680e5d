/*
 * exit() in a program without names of functions, by its code.
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_UNNAMED_EXIT_H
#define LIB_COMMAND_UNNAMED_EXIT_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"

/*
 * Set the stack pointer of THREAD, which has called _exit(), to where exit()
 * was called, if it is in that. Memory is from ARENA.
 */
void mu_unnamed_exit_find(
    struct mu_snapshot *snap, struct mu_thread *thread, struct mu_arena *arena);

#endif
