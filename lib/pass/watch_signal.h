/*
 * Report whenever a signal arrives, even in a program that was built without
 * the library, is idle, or is inside malloc.
 */
#ifndef LIB_PASS_WATCH_SIGNAL_H
#define LIB_PASS_WATCH_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/state/lock.h"

#define MU_WATCH_SIGNALS 65 /* signal numbers are 1 to 64 */

/* The action that was installed before ours. */
struct mu_sigaction {
	void *handler;
	unsigned long flags;
};

struct mu_watch {
	struct mu_lock lock; /* for installing */
	int state;           /* of the pass's own thread: enum in the source */
	int tid;             /* the kernel zeroes it when that thread is gone */
	int ending;          /* 1: exit() waits for the reports; a futex */
	uint64_t next_ns;    /* no report begins before; that thread's */
	unsigned reports;    /* how many have begun; that thread's */
	char *stack;         /* of that thread; mapped with the first watch */
	size_t stack_size;
	bool watched[MU_WATCH_SIGNALS];
	/* Earlier actions, which are called as well. */
	struct mu_sigaction earlier[MU_WATCH_SIGNALS];
};

/*
 * Install the handler for SIGNO. Returns 0 or -errno. Do not call in a signal
 * handler. Runs in: original.
 */
int mu_watch_signal(int signo);

#endif
