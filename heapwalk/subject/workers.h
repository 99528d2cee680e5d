/*
 * Threads that share the sweeper's work.
 *
 * The sweeper has no libc threads: its caller says how to start more (RUN), and
 * without that one does all. What is done with them must come out the same
 * whatever their number.
 */
#ifndef HEAPWALK_SUBJECT_WORKERS_H
#define HEAPWALK_SUBJECT_WORKERS_H

#include <stddef.h>

#define MU_WORKERS_MAX 64

/* What a worker does; WORKER is 0 (the caller's own thread) to COUNT - 1. */
typedef void mu_worker_body(void *ctx, unsigned worker);

struct mu_workers {
	unsigned count; /* at most; 0 and 1: the calling thread alone */

	/*
	 * Call BODY on COUNT threads at most, the caller's among them as
	 * worker 0; returns when all have returned. How many it became is
	 * known only then (threads may be refused): a body takes its share
	 * from a common place, never by its number. NULL: no threads.
	 */
	void (*run)(struct mu_workers *workers, unsigned count,
	    mu_worker_body *body, void *ctx);
	void *own; /* RUN's */
};

/* BODY on COUNT threads or as many as there are; WORKERS may be NULL. */
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

/* How many a piece of work may count on having; at least 1. */
static inline unsigned
mu_workers_count(const struct mu_workers *workers)
{
	return workers == NULL || workers->run == NULL || workers->count < 2
	    ? 1
	    : workers->count;
}

#endif
