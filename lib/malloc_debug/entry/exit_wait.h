/*
 * Ends of the program without exit(): see entry_exit.c.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_EXIT_WAIT_H
#define LIB_MALLOC_DEBUG_ENTRY_EXIT_WAIT_H

/* Call when there can be jobs, inside the recorder. */
void exit_wait_start(void);

/* In the child after fork(). */
void exit_wait_fork_child(void);

#endif
