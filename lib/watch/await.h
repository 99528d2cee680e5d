/*
 * Waiting between looks: for a time, the end of the process, or a signal.
 *
 * Runs in: the command, which has one thread.
 */
#ifndef LIB_WATCH_AWAIT_H
#define LIB_WATCH_AWAIT_H

#include <signal.h>
#include <stdint.h>

#include "lib/watch/subject.h"

enum mu_watch_event {
	MU_WATCH_TIME,  /* it is time */
	MU_WATCH_ENDED, /* the process has ended */
	MU_WATCH_NOW,   /* SIGUSR1: look at once */
	MU_WATCH_STOP,  /* SIGINT, SIGTERM or SIGHUP */
};

/* The signals of a watch. They are blocked, so that no look is interrupted. */
struct mu_watch_signals {
	int fd; /* a signalfd */
	sigset_t before;
	struct sigaction interrupt; /* what SIGINT did before */
};

/* Returns false without descriptors. Close it in any case. */
bool mu_watch_signals_open(struct mu_watch_signals *signals);
void mu_watch_signals_close(struct mu_watch_signals *signals);

/* In a child that executes another program: undo what open() did. */
void mu_watch_signals_restore(const struct mu_watch_signals *signals);

/* Wait until UNTIL_NS (mu_sys_now_ns()). SUBJECT may be NULL. */
enum mu_watch_event mu_watch_await(const struct mu_watch_signals *signals,
    const struct mu_watch_subject *subject, uint64_t until_ns);

#endif
