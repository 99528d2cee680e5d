/*
 * makecontext(): one coroutine is suspended and known, what its stack holds
 * is kept. Another was abandoned: its stack is lost with all it holds.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "tests/corpus/support/corpus.h"

#define STACK 300000 /* so large that malloc maps it */

struct coroutine {
	ucontext_t self, caller;
	void *stack;
};

static struct coroutine *current;

static void
body(void)
{
	struct coroutine *me = current;
	void *volatile local = malloc(123);

	swapcontext(&me->self, &me->caller);
	corpus_use(local);
}

static NOINLINE struct coroutine *
start(size_t size)
{
	struct coroutine *c = calloc(1, sizeof(*c));

	c->stack = calloc(1, size);
	getcontext(&c->self);
	c->self.uc_stack.ss_sp = c->stack;
	c->self.uc_stack.ss_size = size;
	c->self.uc_link = &c->caller;
	makecontext(&c->self, body, 0);
	current = c;
	corpus_use(&current);
	swapcontext(&c->caller, &c->self);
	current = NULL;
	return corpus_use(c);
}

void
corpus_scenario(void)
{
	corpus_keep(start(STACK));
	corpus_keep(start(20000));
	corpus_lose("mapped");
	start(STACK);
	corpus_lose("small");
	start(20000);
}
