/* What atexit()-like lists of libc hold is kept: on_exit() takes a pointer. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static void
at_exit(int status, void *arg)
{
	(void)status;
	free(arg);
}

static NOINLINE void *
make_state(void)
{
	void **state = malloc(64);

	state[0] = malloc(65);
	state[1] = NULL;
	return corpus_use(state);
}

static NOINLINE void
add_handlers(void)
{
	int i;

	for (i = 0; i < 40; i++) /* more than the 32 that need no block */
		on_exit(at_exit, make_state());
}

void
corpus_scenario(void)
{
	add_handlers();
	corpus_lose("state");
	make_state();
}
