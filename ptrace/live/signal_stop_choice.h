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
 * Find the signals that no listed thread blocks, awaits or has pending, and
 * store them in stop->seen; 0 if no other thread is listed.
 */
enum mu_status mu_signal_stop_look(
    struct mu_signal_stop *stop, struct mu_why *why);

/*
 * Install the handler for one of stop->seen, which may be some time old, and
 * set stop->signo.
 */
enum mu_status mu_signal_stop_choose(
    struct mu_signal_stop *stop, struct mu_why *why);

enum mu_signal_stop_fate {
	MU_SIGNAL_STOP_COMING,  /* the signal is on its way */
	MU_SIGNAL_STOP_LOST,    /* it is neither pending nor blocked */
	MU_SIGNAL_STOP_TAKEN,   /* neither, and the handler is not ours */
	MU_SIGNAL_STOP_BLOCKED, /* it is pending and blocked */
	MU_SIGNAL_STOP_ENDED,
};

/* Why thread TID, which was sent the signal, has not arrived. */
enum mu_signal_stop_fate mu_signal_stop_fate(
    const struct mu_signal_stop *stop, pid_t tid);

#endif
