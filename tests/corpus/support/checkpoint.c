/*
 * main() of every program of the corpus: the scenario, then one question to a
 * tool (ask.c). Nothing is printed, looked up or allocated in between.
 */
#include <alloca.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/*
 * corpus_scrub() leaves gaps near its caller: between its frames, where the
 * ones of ask() may have gaps, too. So these frames begin further down. What
 * the scenario left there depends on the CPU: the dynamic linker saves its
 * vector registers on the stack.
 */
static volatile size_t room_size = 4096;

int
main(void)
{
	void *room;

	if (sem_init(&parked, 0, 0) != 0)
		return 1;
	ask_prepare();
	free(malloc(1)); /* a preloaded LeakSanitizer wakes up at the first */
	corpus_scenario();
	corpus_lose_end();
	corpus_scrub();
	room = alloca(room_size);
	memset(corpus_use(room), 0, room_size);
	ask(STDOUT_FILENO);
	_exit(0);
}
