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
#ifndef PTRACE_LIVE_HALT_H
#define PTRACE_LIVE_HALT_H

#include <signal.h>

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

#define MU_HALT_MAGIC 0x746c6168756dull /* "muhalt" */
#define MU_HALT_CODE (-0x6d75)          /* si_code of the signal */

/*
 * Signals that are ignored by default; the first one that is not handled is
 * used.
 */
#define MU_HALT_SIGNALS ((const int[]) { SIGURG, SIGWINCH })
#define MU_HALT_NUM_SIGNALS 2

enum mu_halt_what { MU_HALT_STOP, MU_HALT_RELEASE };

/* Lies in the memory of the process. The tracer checks all of it. */
struct mu_halt_request {
	uint64_t magic;
	uint32_t size, thread_size; /* of this and of struct mu_thread */
	uint32_t what;              /* enum mu_halt_what */
	uint32_t ask_stacks;        /* threads for their alternate stacks */
	uint64_t stop_ns;           /* how long stopping may take */
	uint64_t hold_ns;           /* how long they may stay stopped */
	uint64_t max_threads, max_values;
	struct mu_thread *threads; /* has room for max_threads */
	uintptr_t *stacks;         /* has room for max_threads */
	uintptr_t *values;         /* has room for max_values */
	uint16_t *places;          /* has room for max_values */

	/* Written by the tracer: */
	uint32_t done;  /* 1 once the request is answered */
	int32_t status; /* enum mu_status; for MU_HALT_RELEASE: MU_OK if all
			   threads stayed stopped until then */
	uint64_t num_threads, num_values, num_stacks;
	uint64_t unasked; /* threads whose alternate stacks could not be read */
};

struct mu_halt {
	struct mu_halt_request request;
	pid_t pid, tid;
	int signo;
	bool stopped;              /* the threads must be released */
	uint64_t begin_ns, end_ns; /* begin and end of the stop */
};

/*
 * True if process TRACER, by its number in our /proc, traces the calling
 * thread. Runs in: original.
 */
bool mu_halt_is_traced_by(pid_t tracer);

/*
 * Stop all threads but the calling one, at the latest at STOP_NS, and read
 * their registers; with ASK_STACKS their alternate signal stacks as well. They
 * stay stopped until mu_halt_release(), at most until LEAVE_NS (both
 * CLOCK_MONOTONIC). HALT need not be initialised; its arrays come from ARENA.
 * All signals are blocked.
 *
 * MU_ERR_TIMEOUT: a thread did not stop in time. MU_ERR_ALREADY_TRACED: the
 * tracer does not answer requests, or the program handles both signals. After a
 * failure no thread is stopped.
 *
 * Runs in: original.
 */
enum mu_status mu_halt_stop(struct mu_halt *halt, struct mu_arena *arena,
    bool ask_stacks, uint64_t stop_ns, uint64_t leave_ns, struct mu_why *why);

/*
 * Let the threads continue. Returns true if all of them stayed stopped until
 * now. Accepts the zero value; may be called twice. Runs in: original.
 */
bool mu_halt_release(struct mu_halt *halt);

#endif
