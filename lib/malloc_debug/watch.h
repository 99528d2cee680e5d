/*
 * Signals of the recorder: SIGRTMAX-19 to -15, and whichever others were asked
 * for. A handler does nothing but set a bit and have the watcher look: so an
 * idle process answers too, and nothing waits in a handler. A signal that comes
 * again before its work began counts once.
 *
 * The watcher is a thread. Where all jobs are such that run without libc it is
 * a bare one that is started when a signal comes and ends behind the job: the
 * program stays single-threaded for libc (locks that are left out, the exit()
 * behind the last thread's pthread_exit()), for the kernel (unshare(2)) and in
 * its own eyes, and a fork costs nothing. Otherwise it is a thread of libc's.
 *
 * Runs in: the original.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

enum watch_how {
	WATCH_AT_ONCE, /* in the handler: one atomic operation */
	WATCH_BARE,    /* uses no libc, no TLS, so no recorder_enter() */
	WATCH_THREAD,  /* inside the recorder (recorder_enter()) */
};

/*
 * JOB is run after SIGNO has arrived. Before watch_start(); for a signal that
 * has one a later JOB replaces it. False: no such signal, or too many of them.
 */
bool watch_signal_job(int signo, void (*job)(void), enum watch_how how);

/* By WATCH_THREAD. */
bool watch_signal(int signo, void (*job)(void));

/*
 * Those of the options, then the handlers, then the watcher if need be. Before
 * main(), in the thread that will run it.
 */
void watch_start(void);

/* In the child after fork(). */
void watch_fork_child(void);

/* Has a signal ever asked for what is not done in its handler? */
bool watch_asked(void);

/*
 * The program ends: nothing more is begun, and what has begun is waited for,
 * 10 seconds at most.
 */
void watch_end(void);

#endif
