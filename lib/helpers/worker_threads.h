/*
 * Threads of the sweeper, started when work is first shared, and kept for more.
 *
 * Raw clones: they have no separate TLS and run only the sweeper's code.
 * exit_group() by any of them ends all.
 *
 * Runs in: sweeper, keeper, command.
 */
#ifndef LIB_HELPERS_WORKER_THREADS_H
#define LIB_HELPERS_WORKER_THREADS_H

#include <stdbool.h>

#include "heapwalk/subject/workers.h"

/* By themselves never more: what a program runs beside them needs CPUs too. */
#define MU_WORKERS_PRESET 16

#define MU_WORKERS_GIVEN 4
#define MU_WORKERS_STACKS ((size_t)3 << 19)

struct mu_worker_threads {
	struct mu_workers workers; /* what is handed out */
	unsigned started;
	struct mu_worker_thread {
		char *stack;
		int tid; /* 0: it is gone; the kernel writes that */
	} started_ones[MU_WORKERS_MAX];
	bool refused; /* no more threads can be had */
	char *given;  /* where the next stack comes from; NULL: it is mapped */

	/* The present run. */
	mu_worker_body *body;
	void *ctx;
	int turn;      /* futex: which run, and of how many threads */
	int busy;      /* futex: threads that have not done their part */
	int next_rank; /* of a thread that begins */
};

/*
 * WANTED threads, the caller's included; 0: one for each CPU that the caller
 * may run on, MU_WORKERS_PRESET at most. THREADS must stay where it is.
 */
void mu_worker_threads_open(struct mu_worker_threads *threads, size_t wanted);

/*
 * The same, but up to MU_WORKERS_GIVEN threads on stacks from the
 * MU_WORKERS_STACKS bytes at STACKS, which begin with a page.
 */
void mu_worker_threads_open_on(
    struct mu_worker_threads *threads, size_t wanted, void *stacks);

/* End them, where exit_group() does not. */
void mu_worker_threads_close(struct mu_worker_threads *threads);

#endif
