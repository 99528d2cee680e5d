/*
 * The watcher: a thread that does what signals ask for. See watch.h for its two
 * kinds.
 *
 * Runs in: the original.
 */
#ifndef WATCH_THREAD_H
#define WATCH_THREAD_H

#include <stdbool.h>

/*
 * RUN is called with the bits of *PENDING, which are taken. RESIDENT: by a
 * thread of libc's, from now on; otherwise by a bare one, as need be. A line
 * says so if that cannot be had.
 */
void watch_thread_start(bool resident, int *pending, void (*run)(int bits));

/* *PENDING has bits. Async-signal-safe. */
void watch_thread_wake(const int *pending);

void watch_thread_fork_child(void);

/* Whether work is going on, or is about to. */
bool watch_thread_busy(void);

#endif
