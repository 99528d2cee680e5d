/*
 * Workers that are threads of libc's: ThreadSanitizer knows those.
 */
#ifndef TESTS_SUPPORT_PTHREAD_WORKERS_H
#define TESTS_SUPPORT_PTHREAD_WORKERS_H

#include <check.h>
#include <pthread.h>

#include "heapwalk/subject/workers.h"

struct pthread_work {
	mu_worker_body *body;
	void *ctx;
	unsigned worker;
};

static inline void *
pthread_work_thread(void *arg)
{
	struct pthread_work *work = arg;

	work->body(work->ctx, work->worker);
	return NULL;
}

static inline void
pthread_workers_run(
    struct mu_workers *workers, unsigned count, mu_worker_body *body, void *ctx)
{
	struct pthread_work work[MU_WORKERS_MAX];
	pthread_t threads[MU_WORKERS_MAX];
	unsigned i;

	(void)workers;
	for (i = 1; i < count; i++) {
		work[i] = (struct pthread_work) { body, ctx, i };
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
				     pthread_work_thread, &work[i]),
		    0);
	}
	body(ctx, 0);
	for (i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
}

static inline struct mu_workers
pthread_workers(unsigned count)
{
	return (
	    struct mu_workers) { .count = count, .run = pthread_workers_run };
}

#endif
