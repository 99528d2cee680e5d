/*
 * A watcher that exists only while it works: a thread that the handler starts
 * by a bare clone(2), on a stack that was mapped in advance. It makes a process
 * for its jobs, which shares the memory and lives on if the program is killed;
 * the handler returns when that exists.
 *
 * They share the TLS of the interrupted thread, so jobs use no errno, no lock
 * of libc, no malloc and no recorder_enter(). libc does not know the thread.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_WATCH_BARE_H
#define LIB_MALLOC_DEBUG_DUMPS_WATCH_BARE_H

#include <stdbool.h>

/* Returns false if memory is exhausted. */
bool watch_bare_prepare(int *pending, void (*run)(int bits));

/* Call after setting bits in *PENDING. Async-signal-safe. */
void watch_bare_wake(void);

/* In a child of fork(): no thread is working. */
void watch_bare_fork_child(void);

/* True if a thread is working, or is about to. */
bool watch_bare_busy(void);

/* The PID of the program, also in the process that does its jobs. */
int watch_bare_program(void);

/* True in such a process when the program has ended, and it is to end, too. */
bool watch_bare_late(void);

#endif
