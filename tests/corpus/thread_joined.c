/* Threads that lose blocks and end; what they returned is not looked at. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void *
work(void)
{
	char **list = malloc(4 * sizeof(*list));

	list[0] = strdup("first");
	list[1] = strdup("second");
	list[2] = calloc(1, 500);
	list[3] = NULL;
	return corpus_use(list);
}

static void *
run(void *arg)
{
	if (arg == NULL)
		corpus_lose("work");
	work();
	if (arg == NULL)
		corpus_lose("result");
	return work();
}

static NOINLINE void
run_threads(int n)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			abort();
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

void
corpus_scenario(void)
{
	run_threads(4);
}
