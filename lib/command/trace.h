/*
 * Trace the processes of a COMMAND: every signal is passed on, every stop keeps
 * its effect. The purpose is the moment of a process's end in which its memory
 * is still whole.
 *
 * Runs in: the command, all in one thread: a tracee obeys its tracer only.
 */
#ifndef LIB_COMMAND_TRACE_H
#define LIB_COMMAND_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/command/traced_threads.h"
#include "mu/arena.h"
#include "ptrace/live/threads.h"

struct mu_trace {
	/* Set by the caller. */
	pid_t command;
	bool children; /* trace its child processes, too */
	/* PID is about to end; THREADS are stopped until this returns. */
	void (*ended)(
	    void *ctx, const struct mu_threads *threads, size_t missed);
	/* PID has executed a program. False: it is not traced from now on. */
	bool (*became)(void *ctx, pid_t pid);
	void *ctx;

	struct mu_traced_threads all;
	uint64_t expire_ns; /* when to stop waiting for held threads; 0: none
			      are held */
	int stop_signal;    /* the terminal has stopped the command; 0: no */
};

/*
 * Trace trace->command, a child of ours that has not executed its program yet.
 * Returns 0, or -errno if it is not traced.
 */
long mu_trace_begin(struct mu_trace *trace);

/*
 * Trace PID, a process that we do not trace yet, for its end. What it executes
 * is not traced.
 */
void mu_trace_join(struct mu_trace *trace, pid_t pid);

/*
 * Handle STATUS, which waitpid() returned for TID. Returns true if it was a
 * stop of a tracee; false if the task has ended, as STATUS says.
 */
bool mu_trace_take(struct mu_trace *trace, pid_t tid, int status);

/*
 * Give up held threads whose process is late, and continue threads that were
 * stopped for a check for too long. Returns when to call again
 * (CLOCK_MONOTONIC); 0: at the next event.
 */
uint64_t mu_trace_expire(struct mu_trace *trace);

/* A traced process that has not ended, or 0. */
pid_t mu_trace_any(const struct mu_trace *trace);

/* Accepts a zeroed TRACE. Running tracees are released by our own end. */
void mu_trace_close(struct mu_trace *trace);

#endif
