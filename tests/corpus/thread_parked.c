/*
 * Living threads hold blocks in their stacks, in __thread variables and in
 * the argument they were given, and have lost others.
 */
#include <pthread.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static __thread void *own;

static NOINLINE void *
make_pair(void)
{
	void **pair = malloc(2 * sizeof(*pair));

	pair[0] = NULL;
	pair[1] = malloc(60);
	return corpus_use(pair);
}

static NOINLINE void
lose_some(void)
{
	corpus_lose("pair");
	own = make_pair();
	make_pair();
	corpus_lose_end();
	own = make_pair();
	corpus_use(&own);
}

static void *
run(void *arg)
{
	void *volatile local = make_pair();
	char large[10000]; /* more than one page away from where it waits */

	corpus_use(large);
	lose_some();
	corpus_park();
	corpus_use(local);
	return arg;
}

void
corpus_scenario(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, run, make_pair()) != 0)
			abort();
	}
	corpus_await_parked(3);
}
