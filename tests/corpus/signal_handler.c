/* A handler on an alternate stack drops the program's pointers. */
#include <signal.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static void *volatile kept, *volatile dropped;
static char alternate[65536];

static void
handle(int signo)
{
	(void)signo;
	dropped = NULL;
}

static NOINLINE void *
make_state(void)
{
	void **block = malloc(3 * sizeof(*block));

	block[0] = block;
	block[1] = malloc(11);
	block[2] = calloc(7, 7);
	return corpus_use(block);
}

void
corpus_scenario(void)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction action = { .sa_handler = handle,
		.sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	kept = make_state();
	corpus_lose("state");
	dropped = make_state();
	corpus_scrub(); /* the kernel saves registers to the other stack */
	raise(SIGUSR1);
}
