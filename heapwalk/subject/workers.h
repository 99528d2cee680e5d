/*
 * Threads that share the sweeper's work.
 *
 * The sweeper has no libc threads: its caller provides RUN to start more, and
 * without it one thread does everything. Results must not depend on the number
 * of threads.
 *
 * Runs in: sweeper, keeper, the command.
 */
#ifndef HEAPWALK_SUBJECT_WORKERS_H
#define HEAPWALK_SUBJECT_WORKERS_H

#include <stddef.h>

#define MU_WORKERS_MAX 64

/* Body of a worker; WORKER is 0 (the calling thread) to COUNT - 1. */
typedef void mu_worker_body(void *ctx, unsigned worker);

struct mu_workers {
	unsigned count; /* upper limit; 0 and 1: only the calling thread */

	/*
	 * Call BODY on at most COUNT threads, including the caller as worker 0;
	 * returns when all have returned. The kernel may refuse threads, so the
	 * number is not known in advance: a body must take its work from a
	 * shared counter, not by its own number. NULL: no threads.
	 */
	void (*run)(struct mu_workers *workers, unsigned count,
	    mu_worker_body *body, void *ctx);
	void *own; /* for RUN */

	/*
	 * Called by the calling thread between units of work of about 0.1 ms,
	 * if no other thread takes part; it need not return. NULL: nothing.
	 */
	void (*between)(void *ctx);
	void *ctx; /* for BETWEEN */
};

/* Run BODY on at most COUNT threads; WORKERS may be NULL. */
static inline void
mu_workers_run(
    struct mu_workers *workers, unsigned count, mu_worker_body *body, void *ctx)
{
	if (workers == NULL || workers->run == NULL || count < 2 ||
	    workers->count < 2)
		body(ctx, 0);
	else
		workers->run(workers,
		    count < workers->count ? count : workers->count, body, ctx);
}

/* A unit of work is done. */
static inline void
mu_workers_between(const struct mu_workers *workers)
{
	if (workers != NULL && workers->between != NULL)
		workers->between(workers->ctx);
}

/* The number of threads to plan for; at least 1. */
static inline unsigned
mu_workers_count(const struct mu_workers *workers)
{
	return workers == NULL || workers->run == NULL || workers->count < 2
	    ? 1
	    : workers->count;
}

#endif
