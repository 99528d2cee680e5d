/*
 * Signals of the recorder: SIGRTMAX-19 to -15, and others that were requested.
 * The handler only sets a bit and wakes the watcher, so it works in an idle
 * process too, and nothing waits in a handler. A signal that arrives again
 * before its work began counts once.
 *
 * The watcher is a thread. If all jobs can run without libc it is a bare
 * thread, started when a signal arrives, which ends after the job. The program
 * then stays single-threaded for libc (which skips locks, and calls exit()
 * after the last thread's pthread_exit()), for the kernel (unshare(2)) and for
 * itself, and a fork costs nothing. Otherwise the watcher is a thread of libc.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_WATCH_H
#define LIB_MALLOC_DEBUG_DUMPS_WATCH_H

#include <stdbool.h>

enum watch_how {
	WATCH_AT_ONCE, /* in the handler: one atomic operation */
	WATCH_BARE,    /* uses no libc, no TLS, so no recorder_enter() */
	WATCH_THREAD,  /* inside the recorder (recorder_enter()) */
};

/*
 * Run JOB after SIGNO has arrived. Call before watch_start(); a later JOB for
 * the same signal replaces the earlier one. False: no such signal, or too many.
 */
bool watch_signal_job(int signo, void (*job)(void), enum watch_how how);

/*
 * Set up the jobs of the options, then the handlers, then the watcher if
 * needed. Call before main(), in the thread that will run it.
 */
void watch_start(void);

/* In the child after fork(). */
void watch_fork_child(void);

/* True if a signal that needs the watcher has ever arrived. */
bool watch_asked(void);

/*
 * The program ends: start no further job, and wait for the running one, 10
 * seconds at most.
 */
void watch_end(void);

#endif
