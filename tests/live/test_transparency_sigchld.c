/*
 * No pass sends SIGCHLD, in whatever way a program takes it.
 */
#include <poll.h>
#include <sys/signalfd.h>

#include "tests/support/suite.h"
#include "tests/support/transparency.h"

#define PASSES 15
#define CHILDREN 40

static int sigchlds, created, stop_forking;

static void
on_sigchld(int signo)
{
	(void)signo;
	__atomic_add_fetch(&sigchlds, 1, __ATOMIC_SEQ_CST);
}

static void
bear(void)
{
	pid_t pid = fork();

	/* First: check has a mutex that another thread may hold. */
	if (pid == 0)
		_exit(0);
	ck_assert_int_ge(pid, 0);
}

static void *
fork_often(void *arg)
{
	(void)arg;
	while (transparency_get(&created) < CHILDREN ||
	    !transparency_get(&stop_forking)) {
		bear();
		__atomic_add_fetch(&created, 1, __ATOMIC_SEQ_CST);
		usleep(2000);
	}
	return NULL;
}

static __attribute__((noreturn)) void *
sit_around(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* The kernel has none, pending or delivered, however it is to be taken. */
static void
passes_without_sigchld(int method, bool other)
{
	pthread_t thread;

	if (other)
		transparency_spawn(&thread, sit_around, NULL);
	transparency_passes(method, PASSES);
	ck_assert_int_eq(sigchlds, 0);
}

TEST_LOOP(no_sigchld_handled, 0, TRANSPARENCY_METHODS)
{
	signal(SIGCHLD, on_sigchld);
	passes_without_sigchld(_i, true);
}

static void
block_sigchld(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, set, NULL), 0);
}

TEST_LOOP(no_sigchld_pending, 0, TRANSPARENCY_METHODS)
{
	struct pollfd look = { .events = POLLIN };
	sigset_t set;

	block_sigchld(&set);
	look.fd = signalfd(-1, &set, SFD_CLOEXEC);
	passes_without_sigchld(_i, true);
	ck_assert_int_eq(poll(&look, 1, 0), 0);
	sigpending(&set);
	ck_assert_int_eq(sigismember(&set, SIGCHLD), 0);
	/* And one of a child is there. */
	bear();
	ck_assert_int_eq(poll(&look, 1, 60000), 1);
}

static __attribute__((noreturn)) void *
take_sigchld(void *arg)
{
	siginfo_t info;

	for (;;)
		if (sigwaitinfo(arg, &info) == SIGCHLD)
			__atomic_add_fetch(&sigchlds, 1, __ATOMIC_SEQ_CST);
}

TEST_LOOP(no_sigchld_waited_for, 0, TRANSPARENCY_METHODS)
{
	pthread_t thread;
	sigset_t set;

	block_sigchld(&set);
	transparency_spawn(&thread, take_sigchld, &set);
	passes_without_sigchld(_i, false);
	bear();
	transparency_await(&sigchlds, 1);
}

/* Children that leave no zombie: waits last until there are none. */
TEST_LOOP(no_child_to_wait_for, 0, 2 * TRANSPARENCY_METHODS)
{
	bool ignored = _i / TRANSPARENCY_METHODS == 0;
	struct sigaction action = { .sa_handler =
					ignored ? SIG_IGN : on_sigchld,
		.sa_flags = SA_RESTART | (ignored ? 0 : SA_NOCLDWAIT) };
	struct sigaction after;
	pthread_t forker;

	ck_assert_int_eq(sigaction(SIGCHLD, &action, NULL), 0);
	passes_without_sigchld(_i % TRANSPARENCY_METHODS, true);
	transparency_spawn(&forker, fork_often, NULL);
	transparency_passes(_i % TRANSPARENCY_METHODS, PASSES);
	transparency_set(&stop_forking, 1);
	pthread_join(forker, NULL);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	ck_assert_int_eq(sigaction(SIGCHLD, NULL, &after), 0);
	ck_assert(after.sa_handler == action.sa_handler &&
	    ((after.sa_flags ^ action.sa_flags) & SA_NOCLDWAIT) == 0);
	ck_assert_int_le(sigchlds, created);
}
