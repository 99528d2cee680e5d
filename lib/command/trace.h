/*
 * The processes of a COMMAND as their tracer sees them: every signal is handed
 * on, every stop is left to its cause, and the one thing that is wanted is the
 * moment of a process's end, in which its memory is whole.
 *
 * Runs in: the command, all of it in one thread: a tracee obeys its tracer.
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
	bool children; /* the processes that it starts, too */
	/* PID is about to end; THREADS stand still until this returns. */
	void (*ended)(
	    void *ctx, const struct mu_threads *threads, size_t missed);
	/* PID has become another program. */
	void (*became)(void *ctx, pid_t pid);
	void *ctx;

	struct mu_traced_threads all;
	uint64_t hurry_ns; /* when held threads are waited for no more; 0: none
			      are held */
	int stop_signal;   /* the terminal has stopped the command; 0: no */
};

/*
 * Trace trace->command, a child of ours that has not become its program yet.
 * 0 or -errno: it is not traced.
 */
long mu_trace_begin(struct mu_trace *trace);

/*
 * What waitpid() said of TID. True: a stop of a tracee, and it was dealt with;
 * false: it has ended, as STATUS says.
 */
bool mu_trace_take(struct mu_trace *trace, pid_t tid, int status);

/*
 * Held threads whose process is late, and threads that were stopped for a check
 * for too long. When that is to be called again (CLOCK_MONOTONIC); 0: not
 * before the next event.
 */
uint64_t mu_trace_hurry(struct mu_trace *trace);

/* A process that is traced and has not ended, or 0. */
pid_t mu_trace_any(const struct mu_trace *trace);

/* Accepts a zeroed one. Those that still run are let go by our own end. */
void mu_trace_close(struct mu_trace *trace);

#endif
