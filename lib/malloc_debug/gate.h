/*
 * malloc_disable(): the calls of all other threads wait at a gate.
 *
 * There is no lock that every call takes; while the gate is closed, entries
 * take their careful path, and there wait. Who waits too long goes on, with a
 * line that says so: a program that stands still for ever is worse. What was
 * under way when the gate was closed comes to its end.
 *
 * Runs in: the original, any thread.
 */
#ifndef GATE_H
#define GATE_H

#include <stdbool.h>

/* Some thread has it closed: 0, or that thread's id. */
extern int gate_closed;

/*
 * First thing in the careful path of every entry when gate_closed is not 0,
 * before anything of the recorder's is held. Returns at once in the thread
 * that closed it, and inside the recorder.
 */
void gate_wait(void);

/* Nests. */
void gate_close(void);
void gate_open(void);

/* In the child after fork(): who closed it may not be here. */
void gate_fork_child(void);

#endif
