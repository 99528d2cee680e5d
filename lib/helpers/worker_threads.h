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

/* The default is never more: the programs on the machine need CPUs, too. */
#define MU_WORKERS_PRESET 16

#define MU_WORKERS_GIVEN 4
#define MU_WORKERS_STACKS ((size_t)3 << 19)

struct mu_worker_threads {
	struct mu_workers workers; /* the interface of these threads */
	unsigned started;
	struct mu_worker_thread {
		char *stack;
		int tid; /* 0: it has ended; written by the kernel */
	} started_ones[MU_WORKERS_MAX];
	bool refused; /* the kernel refuses more threads */
	char *given;  /* memory for the next stack; NULL: map one */

	/* The current turn. */
	mu_worker_body *body;
	void *ctx;
	int turn;      /* futex: number of the turn, and of its threads */
	int busy;      /* futex: threads that have not finished */
	int next_rank; /* number of the next thread that starts */
};

/*
 * Prepare for WANTED threads, including the caller; 0: one per CPU that the
 * caller may use, at most MU_WORKERS_PRESET. THREADS must stay where it is.
 */
void mu_worker_threads_open(struct mu_worker_threads *threads, size_t wanted);

/*
 * The same, but for up to MU_WORKERS_GIVEN threads, with stacks in the
 * MU_WORKERS_STACKS bytes at STACKS, which is page-aligned.
 */
void mu_worker_threads_open_on(
    struct mu_worker_threads *threads, size_t wanted, void *stacks);

/* End the threads, unless exit_group() does. */
void mu_worker_threads_close(struct mu_worker_threads *threads);

#endif
