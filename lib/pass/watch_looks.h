/*
 * Look at the own process again and again, in a helper thread, and judge what
 * grows.
 */
#ifndef LIB_PASS_WATCH_LOOKS_H
#define LIB_PASS_WATCH_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/growth/heap_growth.h"
#include "lib/state/lock.h"
#include "lib/state/options.h"

struct MemunreachableLook;

struct mu_looks {
	struct mu_lock lock; /* for what follows, but for the atomic ones */
	void (*callback)(void *ctx, const struct MemunreachableLook *look);
	void *ctx;
	uint64_t every_ns;
	size_t most;         /* looks; 0: any number */
	bool logged;         /* each look is a report in the log */
	size_t count;        /* looks, also those that failed */
	struct mu_kept kept; /* looks that checked the heap */
	uint64_t times_ns[MU_KEPT_LOOKS];
	uint64_t totals[MU_HEAP_TOTALS][MU_KEPT_LOOKS];
	bool forks;   /* a child of fork() is known to us */
	int thread;   /* tid; 0: there is none; atomic, a futex */
	int stopping; /* atomic, a futex */
	int verdict;  /* enum MemunreachableVerdict; atomic */
};

/* As OPTIONS say. Returns 0 or an errno. Runs in: original. */
int mu_looks_obey(const struct mu_options *options);

#endif
