/*
 * Report whenever a signal arrives, also in a program that was built without
 * the library, is idle, or is inside malloc.
 */
#ifndef LIB_PASS_WATCH_SIGNAL_H
#define LIB_PASS_WATCH_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/state/lock.h"

#define MU_WATCH_SIGNALS 65 /* signal numbers are 1 to 64 */

/* The handler that was there before ours. */
struct mu_sigaction {
	void *handler;
	unsigned long flags;
};

struct mu_watch {
	struct mu_lock lock; /* of installing */
	int state;           /* of the pass's own thread: enum in the source */
	int tid;             /* the kernel zeroes it when that thread is gone */
	uint64_t next_ns;    /* no report begins before; that thread's */
	char *stack;         /* of that thread; mapped with the first watch */
	size_t stack_size;
	bool watched[MU_WATCH_SIGNALS];
	/* What was installed before us, called as well. */
	struct mu_sigaction earlier[MU_WATCH_SIGNALS];
};

/*
 * Install the handler for SIGNO. Returns 0 or -errno. Runs in: original. Not
 * for a signal handler.
 */
int mu_watch_signal(int signo);

#endif
