#include "lib/symbolize/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#define SIGNALS 4
#define STACK_SIZE ((size_t)64 << 10) /* AVX-512 frames take 3 KiB */

static const int signals[SIGNALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };

/* A handler gets no argument. */
static _Thread_local struct guard {
	sigjmp_buf *way_out; /* NULL: no work is in progress */
	bool stays;          /* the handlers do */
} guard;

/* Without work it is as if there were no handler. */
static void
leave(int signo)
{
	if (guard.way_out != NULL)
		siglongjmp(*guard.way_out, signo);
	signal(signo, SIG_DFL);
	raise(signo);
}

/* No mask is saved: SA_NODEFER leaves it as it is. */
static bool
attempt(void (*work)(void *ctx), void *ctx)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0) != 0)
		return false;
	guard.way_out = &here;
	work(ctx);
	return true;
}

/* What the handlers replace. */
struct replaced {
	struct sigaction actions[SIGNALS];
	stack_t stack;
};

static void
install(struct replaced *replaced)
{
	/* A separate stack, in case the work overflows the normal one. */
	static _Thread_local char stack[STACK_SIZE];
	struct sigaction action = { .sa_flags = SA_ONSTACK | SA_NODEFER };
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	size_t i;

	action.sa_handler = leave;
	sigaltstack(&other, &replaced->stack);
	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, &replaced->actions[i]);
}

static void
restore(const struct replaced *replaced)
{
	size_t i;

	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &replaced->actions[i], NULL);
	sigaltstack(&replaced->stack, NULL);
}

void
mu_guard_stay(void)
{
	struct replaced replaced;

	install(&replaced);
	guard.stays = true;
}

bool
mu_guarded(void (*work)(void *ctx), void *ctx)
{
	struct replaced replaced;
	bool done;

	if (!guard.stays)
		install(&replaced);
	done = attempt(work, ctx);
	guard.way_out = NULL;
	if (!guard.stays)
		restore(&replaced);
	return done;
}
