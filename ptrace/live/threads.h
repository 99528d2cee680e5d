/*
 * Stop every thread of a process, and release them without a trace.
 *
 * Runs in: collector, or any other thread outside the target process; wakeup.h
 * says what happens to its SIGCHLDs. Stop, registers and release must run in
 * one thread: a tracee obeys only the thread that seized it.
 */
#ifndef PTRACE_LIVE_THREADS_H
#define PTRACE_LIVE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/live/task_list.h"
#include "ptrace/live/tracee.h"
#include "ptrace/remote/remote_code.h"

/* For tests: called during a capture. */
struct mu_threads_hooks {
	void (*after_seize)(void *ctx, pid_t tid); /* before the interrupt */
	void *ctx;
};

/* Threads that did not stop in time, the last one first; 0: none. */
struct mu_late_threads {
	pid_t tids[2];
};

struct mu_asleep; /* ptrace/live/asleep.h */

struct mu_threads {
	pid_t pid, except;
	const struct mu_asleep *asleep; /* threads that are left out, too; set
					   by the caller, or NULL */
	pid_t late; /* the thread that did not stop in time; 0: none */
	struct mu_late_threads before; /* of earlier stops; set by the caller */
	struct mu_tracee *tracees; /* sorted by tid; all stopped after MU_OK */
	size_t count, max;
	size_t rescans; /* listings until none showed a new thread; the last one
			   may have been a count */
	struct mu_task_list listing;
	uint64_t listed_ns; /* when the listing was made; 0 once it is used */
	uint64_t begin_ns;  /* when the first thread was about to be stopped */
	uint64_t end_ns;    /* when all that had stopped were released */
	struct mu_arena *arena;
	uint64_t hold_ns; /* if a call in one of them is late, how long it still
			     keeps the others stopped */
	struct mu_lender *lender; /* as in struct mu_wakeup */
	long options;             /* PTRACE_O_... that are set */
	int64_t filters; /* a thread with so many seccomp filters has just
			    those of its tracer, which may make the call too;
			    0: not known */
	struct mu_remote_code code; /* for calls in them while they are stopped;
				       zero: not searched yet */
	bool filtered; /* by the program, by a seccomp filter that may not know
			  restart_syscall(2). Set by the caller */
	const struct mu_threads_hooks *hooks; /* NULL: none */
};

/* Read the current tids of PID from /proc into TIDS, from the arena. */
enum mu_status mu_threads_list(pid_t pid, pid_t **tids, size_t *count,
    struct mu_arena *arena, struct mu_why *why);

/*
 * Stop every thread of PID except EXCEPT (0: none) and those in out->asleep, in
 * three steps. The first,
 * before the stop, initialises OUT and lists the threads. The second is for
 * threads that did not come to an earlier stop in time (out->before): it stops
 * them alone, while all others run, as the first may be in a long system call;
 * then it waits no longer than PAUSE_NS for the other. MU_ERR_TIMEOUT: the
 * first did not stop by DEADLINE_NS, and nothing is stopped. The third step
 * stops them, and lists them again until a listing shows no new one. A thread
 * that ends is dropped, which is not an error; so is a zombie group leader.
 * After MU_OK all threads were stopped at one moment; only SIGKILL can change
 * that. After a failure all threads are released. OUT is valid until
 * mu_threads_release(), also after a failure.
 *
 * MU_ERR_PTRACE_*, MU_ERR_NOT_DUMPABLE, MU_ERR_ALREADY_TRACED,
 * MU_ERR_NO_PERMISSION: refused, and WHY has the cause and its remedy.
 * MU_ERR_TARGET_GONE: the process ended. MU_ERR_TIMEOUT: DEADLINE_NS
 * (CLOCK_MONOTONIC) passed; out->late is the thread that did not stop, or 0.
 */
enum mu_status mu_threads_prepare(struct mu_threads *out, pid_t pid,
    pid_t except, struct mu_arena *arena, struct mu_why *why);
enum mu_status mu_threads_await_late(struct mu_threads *out,
    uint64_t deadline_ns, uint64_t pause_ns, struct mu_why *why);
enum mu_status mu_threads_stop_listed(
    struct mu_threads *out, uint64_t deadline_ns, struct mu_why *why);

/* TID did not stop in time, unless it is 0. */
static inline void
mu_late_threads_add(struct mu_late_threads *late, pid_t tid)
{
	if (tid == 0 || tid == late->tids[0])
		return;
	late->tids[1] = late->tids[0];
	late->tids[0] = tid;
}

/*
 * Detach every thread explicitly, each with its signal: the kernel drops a
 * signal that was reported to a tracer that just exits. Accepts the empty
 * value; may be called twice. A thread that never stopped cannot be detached:
 * we wait for it briefly, and then leave it to our exit.
 */
void mu_threads_release(struct mu_threads *threads);

#endif
