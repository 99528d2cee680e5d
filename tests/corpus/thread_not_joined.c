/*
 * Threads that ended and were never joined: pthread_join() could still hand
 * out what they returned, so that is kept. What a detached one returned is
 * not, nor what either has lost.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void
lose_some(void)
{
	void **list;

	corpus_lose("work");
	list = malloc(2 * sizeof(*list));
	list[0] = malloc(100);
	list[1] = list;
	corpus_use(list);
	corpus_lose_end();
}

static NOINLINE void *
make_result(void)
{
	return corpus_use(malloc(77));
}

static void *
run(void *arg)
{
	(void)arg;
	lose_some();
	corpus_scrub();
	return make_result();
}

static void *
run_detached(void *arg)
{
	(void)arg;
	lose_some();
	corpus_lose("result");
	return make_result();
}

void
corpus_scenario(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (pthread_create(&thread, &attr, run, NULL) != 0)
		abort();
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, run_detached, NULL) != 0)
		abort();
	pthread_attr_destroy(&attr);
	usleep(200000);
}
