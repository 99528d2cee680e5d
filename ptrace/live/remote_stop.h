/*
 * Where a thread that makes a system call for us has stopped: waiting for it.
 *
 * Runs in: keeper, collector, the command.
 */
#ifndef PTRACE_LIVE_REMOTE_STOP_H
#define PTRACE_LIVE_REMOTE_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptrace/live/remote_thread.h"
#include "ptrace/live/threads.h"

#define MU_REMOTE_EVENT_STOP 128 /* PTRACE_EVENT_STOP since glibc 2.26 */

enum mu_remote_event {
	MU_REMOTE_ENTERED, /* of a system call, like the next two */
	MU_REMOTE_STARTED, /* a child is there */
	MU_REMOTE_LEFT,
	MU_REMOTE_TRAPPED, /* inside get_signal(), like the next one */
	MU_REMOTE_DELIVERY,
	MU_REMOTE_EXECED, /* it runs another program */
	MU_REMOTE_GONE,
};

struct mu_remote_stop {
	struct mu_threads *threads;
	struct mu_tracee *tracee;
	uint64_t deadline_ns;
	bool late;  /* that has passed */
	bool alone; /* so the other threads were let go */
	enum mu_remote_event event;
	int status;                  /* as waitid() gives it */
	struct mu_syscall_info info; /* of the last entry or exit */
	pid_t born; /* last child that it started, in our PID namespace */
};

/*
 * Until the thread has stopped or is gone, however long that takes. When the
 * deadline passes it is interrupted, and the other threads are let go,
 * threads->hold_ns later. Needs an open struct mu_wakeup to be quick.
 */
void mu_remote_stop_await(struct mu_remote_stop *stop);

#endif
