/*
 * Ask the tracer of our own process, the command that runs it (memunreachable
 * -- COMMAND), to stop the other threads. A process can have only one tracer,
 * so no collector can stop them, and a signal would interrupt their sleeping
 * calls.
 *
 * The calling thread sends itself a signal that the program does not handle,
 * with the address of a request. The tracer takes the signal, stops the other
 * threads, writes their registers into the request, and lets the calling thread
 * continue. A second request releases the others. Without such a tracer the
 * signal is ignored.
 */
#ifndef PTRACE_LIVE_TRACER_STOP_H
#define PTRACE_LIVE_TRACER_STOP_H

#include <signal.h>

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

#define MU_TRACER_STOP_MAGIC 0x746c6168756dull /* "muhalt" */
#define MU_TRACER_STOP_CODE (-0x6d75)          /* si_code of the signal */

/*
 * Signals that are ignored by default; the first one that is not handled is
 * used.
 */
#define MU_TRACER_STOP_SIGNALS ((const int[]) { SIGURG, SIGWINCH })
#define MU_TRACER_STOP_NUM_SIGNALS 2

enum mu_tracer_stop_what { MU_TRACER_STOP_TAKE, MU_TRACER_STOP_RELEASE };

/* Lies in the memory of the process. The tracer checks all of it. */
struct mu_tracer_stop_request {
	uint64_t magic;
	uint32_t size, thread_size; /* of this and of struct mu_thread */
	uint32_t what;              /* enum mu_tracer_stop_what */
	uint32_t ask_stacks;        /* threads for their alternate stacks */
	uint64_t stop_ns;           /* how long stopping may take */
	uint64_t hold_ns;           /* how long they may stay stopped */
	uint64_t max_threads, max_values;
	struct mu_thread *threads; /* has room for max_threads */
	uintptr_t *stacks;         /* has room for max_threads */
	uintptr_t *values;         /* has room for max_values */
	uint16_t *regnos;          /* has room for max_values */

	/* Written by the tracer: */
	uint32_t done;  /* 1 once the request is answered */
	int32_t status; /* enum mu_status; for MU_TRACER_STOP_RELEASE: MU_OK if
			   all threads stayed stopped until then */
	uint64_t num_threads, num_values, num_stacks;
	uint64_t unasked; /* threads whose alternate stacks could not be read */
};

struct mu_tracer_stop {
	struct mu_tracer_stop_request request;
	pid_t pid, tid;
	int signo;
	bool stopped;              /* the threads must be released */
	uint64_t begin_ns, end_ns; /* begin and end of the stop */
};

/*
 * True if process TRACER, by its number in our /proc, traces the calling
 * thread. Runs in: original.
 */
bool mu_is_traced_by(pid_t tracer);

/*
 * Stop all threads but the calling one, at the latest at STOP_NS, and read
 * their registers; with ASK_STACKS their alternate signal stacks as well. They
 * stay stopped until mu_tracer_stop_release(), at most until LEAVE_NS (both
 * CLOCK_MONOTONIC). STOP need not be initialised; its arrays come from ARENA.
 * All signals are blocked.
 *
 * MU_ERR_TIMEOUT: a thread did not stop in time. MU_ERR_ALREADY_TRACED: the
 * tracer does not answer requests, or the program handles both signals. After a
 * failure no thread is stopped.
 *
 * Runs in: original.
 */
enum mu_status mu_tracer_stop_take(struct mu_tracer_stop *stop,
    struct mu_arena *arena, bool ask_stacks, uint64_t stop_ns,
    uint64_t leave_ns, struct mu_why *why);

/*
 * Let the threads continue. Returns true if all of them stayed stopped until
 * now. Accepts the zero value; may be called twice. Runs in: original.
 */
bool mu_tracer_stop_release(struct mu_tracer_stop *stop);

#endif
