#include "tests/support/pthread_workers.h"

struct pthread_work {
	mu_worker_body *body;
	void *ctx;
	unsigned worker;
};

static void *
pthread_work_thread(void *arg)
{
	struct pthread_work *work = arg;

	work->body(work->ctx, work->worker);
	return NULL;
}

static void
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

struct mu_workers
pthread_workers(unsigned count)
{
	return (
	    struct mu_workers) { .count = count, .run = pthread_workers_run };
}
