/*
 * The watcher: a thread that does the work of signals. See watch.h for its two
 * kinds.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_WATCH_THREAD_H
#define LIB_MALLOC_DEBUG_DUMPS_WATCH_THREAD_H

#include <stdbool.h>

/*
 * Call RUN with the bits of *PENDING, which are cleared. RESIDENT: in a thread
 * of libc, from now on; otherwise in a bare thread, as needed. If that is not
 * possible a line says so.
 */
void watch_thread_start(bool resident, int *pending, void (*run)(int bits));

/* Call after setting bits in *PENDING. Async-signal-safe. */
void watch_thread_wake(const int *pending);

/* In a child of fork(): there is no thread. */
void watch_thread_fork_child(void);

/* True if work is in progress, or about to begin. */
bool watch_thread_busy(void);

#endif
