/*
 * Values of a pthread key that has no destructor: an ended thread's is lost,
 * those of living threads are kept, also beyond the first 32 keys.
 */
#include <pthread.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

#define KEYS 70

static pthread_key_t keys[KEYS];

static NOINLINE void
set_values(int first)
{
	int i;

	for (i = first; i < KEYS; i += 10)
		pthread_setspecific(keys[i], malloc(50));
}

static void *
run_and_end(void *arg)
{
	corpus_lose("value");
	set_values(1);
	return arg;
}

static void *
run_and_stay(void *arg)
{
	set_values(2);
	corpus_park();
	return arg;
}

void
corpus_scenario(void)
{
	pthread_t ends, stays;
	int i;

	for (i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], NULL);
	set_values(0);
	if (pthread_create(&stays, NULL, run_and_stay, NULL) != 0)
		abort();
	corpus_await_parked(1);
	if (pthread_create(&ends, NULL, run_and_end, NULL) != 0 ||
	    pthread_join(ends, NULL) != 0)
		abort();
}
