/*
 * A watcher that is there only while it works: a thread that the handler
 * starts by a bare clone(2), on a stack that was mapped in advance.
 *
 * It shares the interrupted thread's TLS: what it runs knows no errno, no lock
 * of libc's, no malloc and no recorder_enter(). libc does not know of it.
 *
 * Runs in: the original.
 */
#ifndef WATCH_BARE_H
#define WATCH_BARE_H

#include <stdbool.h>

/* False: no memory. */
bool watch_bare_prepare(int *pending, void (*run)(int bits));

/* *PENDING has bits. Async-signal-safe. */
void watch_bare_wake(void);

void watch_bare_fork_child(void);

/* Whether a thread is at work, or is about to be. */
bool watch_bare_busy(void);

#endif
