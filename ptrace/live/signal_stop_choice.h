/*
 * Choose the signal that stops threads, by what /proc says about it.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_STOP_CHOICE_H
#define PTRACE_LIVE_SIGNAL_STOP_CHOICE_H

#include "mu/status.h"
#include "ptrace/live/signal_threads.h"

/*
 * Which signals does no listed thread block, await or have pending:
 * stop->seen, which is 0 if no other thread is listed.
 */
enum mu_status mu_signal_stop_look(
    struct mu_signal_stop *stop, struct mu_why *why);

/*
 * Install the handler for one of stop->seen, which may be some time ago:
 * stop->signo.
 */
enum mu_status mu_signal_stop_choose(
    struct mu_signal_stop *stop, struct mu_why *why);

enum mu_signal_stop_fate {
	MU_SIGNAL_STOP_COMING,  /* the signal is on its way */
	MU_SIGNAL_STOP_LOST,    /* it is neither pending nor blocked */
	MU_SIGNAL_STOP_TAKEN,   /* so it is, and the handler is not ours */
	MU_SIGNAL_STOP_BLOCKED, /* it is pending and blocked */
	MU_SIGNAL_STOP_ENDED,
};

/* What became of thread TID, which was sent the signal. */
enum mu_signal_stop_fate mu_signal_stop_fate(
    const struct mu_signal_stop *stop, pid_t tid);

#endif
