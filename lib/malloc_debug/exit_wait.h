/*
 * Ends of the program without exit(): see entry_exit.c.
 *
 * Runs in: the original.
 */
#ifndef EXIT_WAIT_H
#define EXIT_WAIT_H

/* Call when there can be jobs, inside the recorder. */
void exit_wait_start(void);

/* In the child after fork(). */
void exit_wait_fork_child(void);

#endif
