#include "lib/symbolize/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#define SIGNALS 4
#define STACK_SIZE ((size_t)64 << 10) /* AVX-512 frames take 3 KiB */

static const int signals[SIGNALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };

/* A handler gets no argument; NULL: no work is in progress. */
static _Thread_local sigjmp_buf *way_out;

static void
leave(int signo)
{
	if (way_out != NULL)
		siglongjmp(*way_out, signo);
}

/*
 * sigsetjmp() saves the mask, because the handler runs with its signal blocked.
 */
static bool
attempt(void (*work)(void *ctx), void *ctx)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 1) != 0)
		return false;
	way_out = &here;
	work(ctx);
	return true;
}

bool
mu_guarded(void (*work)(void *ctx), void *ctx)
{
	/* A separate stack, in case the work overflows the normal one. */
	static _Thread_local char stack[STACK_SIZE];
	struct sigaction action = { .sa_flags = SA_ONSTACK }, old[SIGNALS];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) }, before;
	bool done;
	size_t i;

	action.sa_handler = leave;
	sigaltstack(&other, &before);
	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, &old[i]);
	done = attempt(work, ctx);
	way_out = NULL;
	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	sigaltstack(&before, NULL);
	return done;
}
