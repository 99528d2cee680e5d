/*
 * main() of every program of the corpus: the scenario, then one question to a
 * tool (ask.c). Nothing is printed, looked up or allocated in between.
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/corpus/support/ask.h"
#include "tests/corpus/support/corpus.h"

static sem_t parked;
const void *corpus_held[64]; /* the root of what the programs keep */
static size_t num_held;

void
corpus_keep(const void *p)
{
	if (num_held == sizeof(corpus_held) / sizeof(*corpus_held))
		abort();
	corpus_held[num_held++] = p;
}

void
corpus_park(void)
{
	corpus_scrub();
	sem_post(&parked);
	corpus_scrub();
	for (;;)
		pause();
}

void
corpus_await_parked(int n)
{
	while (n-- > 0) {
		while (sem_wait(&parked) != 0)
			;
	}
	usleep(20000); /* the last one goes to sleep */
}

void
corpus_skip(const char *why)
{
	dprintf(STDOUT_FILENO, "skip %s\n", why);
	_exit(0);
}

int
main(void)
{
	if (sem_init(&parked, 0, 0) != 0)
		return 1;
	ask_prepare();
	free(malloc(1)); /* a preloaded LeakSanitizer wakes up at the first */
	corpus_scenario();
	corpus_lose_end();
	corpus_scrub();
	ask(STDOUT_FILENO);
	_exit(0);
}
