/*
 * malloc_disable(): the calls of all other threads wait at a gate.
 *
 * Calls take no common lock. While the gate is closed, entry points take their
 * careful path and wait there; calls that were in progress finish. A thread
 * that has waited too long continues and prints a line: that is better than a
 * program that hangs for ever.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_GATE_H
#define LIB_MALLOC_DEBUG_SHADOW_GATE_H

#include <stdbool.h>

/*
 * The first step in the careful path of every entry point while gate_closed
 * (recording.h) is not 0, before it holds any resource of the recorder. Returns
 * at once in the thread that closed the gate, and inside the recorder.
 */
void gate_wait(void);

/* Nests. */
void gate_close(void);
void gate_open(void);

/* In the child after fork(): the thread that closed it may not exist here. */
void gate_fork_child(void);

#endif
