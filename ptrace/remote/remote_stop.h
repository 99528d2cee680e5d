/*
 * Wait for the next stop of a thread that makes a system call for us.
 *
 * Runs in: keeper, collector, the command.
 */
#ifndef PTRACE_REMOTE_REMOTE_STOP_H
#define PTRACE_REMOTE_REMOTE_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptrace/live/threads.h"
#include "ptrace/remote/remote_thread.h"

#define MU_REMOTE_EVENT_STOP 128 /* PTRACE_EVENT_STOP since glibc 2.26 */

enum mu_remote_event {
	MU_REMOTE_ENTERED, /* a system call, as in the next two */
	MU_REMOTE_STARTED, /* a child has been started */
	MU_REMOTE_LEFT,
	MU_REMOTE_TRAPPED, /* inside get_signal(), as in the next one */
	MU_REMOTE_DELIVERY,
	MU_REMOTE_EXECED, /* the thread runs another program */
	MU_REMOTE_GONE,
};

struct mu_remote_stop {
	struct mu_threads *threads;
	struct mu_tracee *tracee;
	struct mu_wakeup *wakeup;
	uint64_t deadline_ns;
	bool late;  /* the deadline has passed */
	bool alone; /* so the other threads were released */
	enum mu_remote_event event;
	int status;                  /* as waitid() gives it */
	struct mu_syscall_info info; /* of the last entry or exit */
	pid_t born; /* last child that it started, in our PID namespace */
};

/*
 * Wait until the thread has stopped or ended, without a limit. At the deadline
 * it is interrupted, and threads->hold_ns later the other threads are released.
 */
void mu_remote_stop_await(struct mu_remote_stop *stop);

#endif
