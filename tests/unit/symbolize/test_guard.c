/* Work that faults is abandoned, and the next work runs normally. */
#include "lib/symbolize/guard.h"
#include "tests/support/suite.h"

static volatile int sink;
static volatile int *volatile nowhere = (volatile int *)16;

static void
do_nothing(void *ctx)
{
	*(int *)ctx = 4711;
}

static void
read_nowhere(void *ctx)
{
	(void)ctx;
	sink = *nowhere;
}

static void
read_cut_file(void *ctx)
{
	FILE *file = tmpfile();
	void *page = mmap(NULL, 1, PROT_READ, MAP_SHARED, fileno(file), 0);

	(void)ctx;
	sink = *(volatile char *)page;
}

static void
divide(void *ctx)
{
	(void)ctx;
	raise(SIGFPE);
}

static void
assert_false(void *ctx)
{
	(void)ctx;
	abort();
}

static int
dig(int depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	return depth < 0 ? 0 : dig(depth + 1) + room[0];
}

static void
dig_down(void *ctx)
{
	(void)ctx;
	sink = dig(0);
}

static void (*const faults[])(void *ctx) = { read_nowhere, read_cut_file,
	divide, assert_false, dig_down };

/* With handlers that stay; without work the signal ends the process. */
TEST_LOOP(fault_of_many, 0, sizeof(faults) / sizeof(*faults))
{
	int i, status, done = 0;
	pid_t pid;

	mu_guard_stay();
	for (i = 0; i < 3; i++) {
		ck_assert(!mu_guarded(faults[_i], NULL));
		done = 0;
		ck_assert(mu_guarded(do_nothing, &done));
		ck_assert_int_eq(done, 4711);
	}
	pid = fork();
	if (pid == 0) {
		faults[_i](NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

TEST_LOOP(fault, 0, sizeof(faults) / sizeof(*faults))
{
	struct sigaction before[NSIG], after;
	stack_t stack;
	sigset_t mask;
	int i, done = 0;

	for (i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	for (i = 0; i < 3; i++) {
		ck_assert(!mu_guarded(faults[_i], NULL));
		done = 0;
		ck_assert(mu_guarded(do_nothing, &done));
		ck_assert_int_eq(done, 4711);
	}
	for (i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &after) == 0)
			ck_assert(after.sa_handler == before[i].sa_handler);
	}
	sigaltstack(NULL, &stack);
	ck_assert_int_eq(stack.ss_flags, SS_DISABLE);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGSEGV));
	ck_assert(!sigismember(&mask, SIGABRT));
}
