/* Closures by hand: lists of function, argument and destructor. */
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/support/corpus.h"

struct closure {
	void (*call)(void *);
	void *arg;
	void (*release)(void *);
	struct closure *next;
};

struct loop {
	struct closure *first, **last; /* of an empty list: first itself */
	int count;
};

static void
call(void *arg)
{
	corpus_use(arg);
}

static NOINLINE struct loop *
make_loop(int n)
{
	struct loop *loop = malloc(sizeof(*loop));

	loop->first = NULL;
	loop->last = &loop->first;
	for (loop->count = 0; loop->count < n; loop->count++) {
		struct closure *closure = malloc(sizeof(*closure));

		*closure = (struct closure) {
			.call = call, .arg = strdup("argument"), .release = free
		};
		*loop->last = closure;
		loop->last = &closure->next;
	}
	return corpus_use(loop);
}

/* Runs all, and forgets to free. */
static NOINLINE void
run(struct loop *loop)
{
	struct closure *closure;

	for (closure = loop->first; closure != NULL; closure = closure->next)
		closure->call(closure->arg);
	loop->first = NULL;
	loop->last = &loop->first;
}

void
corpus_scenario(void)
{
	struct loop *drained;

	corpus_keep(make_loop(5));
	drained = make_loop(0);
	corpus_keep(drained);
	corpus_lose("closure");
	drained->first = make_loop(5)->first;
	corpus_lose_end();
	corpus_use(drained);
	run(drained);
	corpus_lose("empty");
	make_loop(0);
}
