/*
 * Handle an end of the program without exit(): see exit.c.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_EXIT_WAIT_H
#define LIB_MALLOC_DEBUG_ENTRY_EXIT_WAIT_H

/* Call inside the recorder, when there can be jobs. */
void exit_wait_start(void);

/* The program ends: wait for jobs, within a limit. Any context. */
void exit_wait(void);

/* In the child after fork(). */
void exit_wait_fork_child(void);

#endif
