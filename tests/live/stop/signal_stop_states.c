/*
 * Threads that fork, execute, cancel or change their ids while all threads are
 * being stopped by signal: the stop succeeds or gives the reason, and no
 * handler remains.
 */
#include <limits.h>

#include "ptrace/live/proc.h"
#include "tests/support/stop/signal_stop.h"
#include "tests/support/suite.h"

static struct counter counter;
static int quit, ready, done, slept;
static pid_t sleeper;

static void
await_child(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(
	    status == 0, "the child's wait status is %#x", (unsigned)status);
}

/*
 * A child that was forked in the middle has our handler, until it asks. No
 * assertions here: check's lock may be held by a thread that is not there.
 */
static void
look_in_child(void)
{
	static struct counter own;
	int i;

	if (pthread_create(&own.thread, NULL, counter_body, &own) != 0)
		_exit(4);
	stop_await(&own.tid, 1);
	mu_arena_open(&stop_arena, (size_t)1 << 30);
	mu_sys_block_signals(&stop_mask);
	if (stop_others(mu_sys_now_ns() + PATIENCE_NS,
		mu_sys_now_ns() + PATIENCE_NS) != MU_OK ||
	    signal_stop.count != 1 || !mu_signal_stop_release(&signal_stop))
		_exit(1);
	mu_sys_restore_signals(&stop_mask);
	for (i = 0; i < 2; i++) {
		struct mu_signal_action now = { 0 };
		int signo = i == 0 ? SIGURG : SIGWINCH;

		mu_sys_signal_action(signo, NULL, &now);
		if (now.handler != (void *)SIG_DFL)
			_exit(2);
	}
	stop_set(&own.quit, 1);
	pthread_join(own.thread, NULL);
	_exit(0);
}

static void *
fork_for_ever(void *unused)
{
	pid_t child;
	int status;

	(void)unused;
	while (!stop_get(&quit)) {
		child = fork();
		if (child == 0)
			look_in_child();
		if (waitpid(child, &status, 0) != child || status != 0)
			stop_set(&done, status == 0 ? -1 : status);
		__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* No assertions while the forking thread is stopped: it may hold locks of libc.
 */
static void
park_and_go_on(void)
{
	uint64_t now = mu_sys_now_ns();
	enum mu_status status;
	bool full, released;

	mu_sys_block_signals(&stop_mask);
	status = stop_others(now + PATIENCE_NS, now + 2 * PATIENCE_NS);
	full = status == MU_OK && mu_signal_stop_is_full(&signal_stop);
	released = mu_signal_stop_release(&signal_stop);
	mu_sys_restore_signals(&stop_mask);
	ck_assert_msg(
	    status == MU_OK, "%s: %s", mu_status_name(status), stop_why.text);
	ck_assert(full && released);
	mu_arena_close(&stop_arena);
}

TEST(fork_in_the_middle)
{
	pthread_t forker = stop_spawn(fork_for_ever, NULL);

	counter_start(&counter);
	while (stop_get(&ready) < stop_rounds(50))
		park_and_go_on();
	stop_set(&quit, 1);
	pthread_join(forker, NULL);
	ck_assert_int_eq(done, 0);
	counter_end(&counter);
}

/* The parent sleeps in the kernel until the child has gone. */
static void *
vfork_and_sleep(void *unused)
{
	pid_t child;

	(void)unused;
	stop_set(&sleeper, mu_sys_gettid());
	child = vfork(); /* NOLINT: it is what this is about */
	if (child == 0) {
		/* Ours too: by now the parent cannot be anywhere else. */
		stop_set(&ready, 1);                /* NOLINT */
		mu_sys_sleep_ns(2 * MU_NS_PER_SEC); /* NOLINT */
		stop_set(&slept, 1);                /* NOLINT */
		_exit(0);
	}
	waitpid(child, NULL, 0);
	stop_set(&done, 1);
	return NULL;
}

static int handled;

static void
on_program_signal(int signo)
{
	(void)signo;
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

TEST(vfork_in_the_middle)
{
	pthread_t thread;
	char name[32];

	counter_start(&counter);
	thread = stop_spawn(vfork_and_sleep, NULL);
	stop_await(&ready, 1);
	/* If gdb 13 follows forks it lets the child run untraced. */
	if (getenv("TESTS_REFUSED") != NULL && stop_get(&slept)) {
		printf("SKIPPED: vfork_in_the_middle: a debugger held us\n");
		pthread_join(thread, NULL);
		counter_end(&counter);
		return;
	}
	must_not_signal_stop(MU_ERR_TIMEOUT, 300 * NS_PER_MS);
	snprintf(name, sizeof(name), "thread %d ", sleeper);
	ck_assert_msg(strstr(stop_why.text, name) != NULL, "%s", stop_why.text);
	counter_must_go_on(&counter);
	ck_assert_int_eq(done, 0);
	/* A signal of ours must not reach the program's own handler. */
	signal(SIGURG, on_program_signal);
	stop_await(&done, 1);
	pthread_join(thread, NULL);
	ck_assert_int_eq(handled, 0);
	signal(SIGURG, SIG_DFL);
	must_signal_stop();
	ck_assert_int_eq(signal_stop.signo, SIGURG);
	release_all();
	counter_end(&counter);
}

static void *
exec_true(void *unused)
{
	char *const argv[] = { (char *)(uintptr_t) "true", NULL };

	(void)unused;
	execve("/bin/true", argv, NULL);
	_exit(3);
}

static void
stop_while_another_execs(int nap)
{
	counter_start(&counter);
	stop_spawn(exec_true, NULL);
	for (; nap > 0; nap--)
		sched_yield();
	for (;;) {
		if (stop_for(PATIENCE_NS, PATIENCE_NS) != MU_OK)
			continue;
		mu_signal_stop_release(&signal_stop);
		mu_sys_restore_signals(&stop_mask);
	}
}

/* Pending signals survive an execve(), after which they have no handler. */
TEST(exec_in_the_middle)
{
	pid_t child;
	int i;

	for (i = 0; i < stop_rounds(30); i++) {
		child = fork();
		if (child == 0)
			stop_while_another_execs(i % 4);
		await_child(child);
	}
}

static void *
cancel_me(void *type)
{
	int old;

	pthread_setcanceltype((int)(intptr_t)type, &old);
	while (!stop_get(&quit))
		if ((intptr_t)type == PTHREAD_CANCEL_DEFERRED)
			pause();
	return NULL;
}

static void *
cancel_for_ever(void *arg)
{
	pthread_t thread;
	void *result;
	intptr_t i, type;

	(void)arg;
	for (i = 0; !stop_get(&quit); i++) {
		type = i % 2 == 0 ? PTHREAD_CANCEL_ASYNCHRONOUS
				  : PTHREAD_CANCEL_DEFERRED;
		thread = stop_spawn(cancel_me, (void *)type);
		if (i % 3 == 0)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != PTHREAD_CANCELED && !stop_get(&quit))
			stop_set(&done, 1);
		__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void *
set_ids_for_ever(void *unused)
{
	(void)unused;
	while (!stop_get(&quit)) {
		if (setresgid(getgid(), getegid(), getegid()) != 0)
			stop_set(&done, 1);
		__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Our own signal, 33 or 32, is the one that glibc is using all the time. */
static void
stop_in_storm(void *(*storm)(void *), int signo)
{
	pthread_t thread;
	int from;

	signal(SIGURG, on_program_signal);
	signal(SIGWINCH, on_program_signal);
	/* The first pthread_cancel() installs a handler. */
	thread = stop_spawn(cancel_me, (void *)PTHREAD_CANCEL_DEFERRED);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	counter_start(&counter);
	thread = stop_spawn(storm, NULL);
	for (from = 0; from < stop_rounds(100); from++) {
		must_signal_stop();
		/*
		 * A thread in glibc's handler blocks that signal for a moment.
		 */
		ck_assert(signal_stop.signo == signo ||
		    (signal_stop.signo == 32 && signo == 33));
		release_all();
		mu_arena_close(&stop_arena);
		stop_await(&ready, from / 2);
	}
	stop_set(&quit, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(done, 0);
	ck_assert_int_eq(handled, 0);
	counter_end(&counter);
}

static int blocker_quit;

static void *
blocker(void *unused)
{
	mu_sigmask mask = 1ull << (33 - 1);

	(void)unused;
	mu_sys4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, 0, sizeof(mask));
	stop_set(&blocker_quit, 1);
	while (stop_get(&blocker_quit) == 1)
		mu_sys_sleep_ns(NS_PER_MS);
	return NULL;
}

TEST(cancellation_beside_33)
{
	stop_in_storm(cancel_for_ever, 33);
}

TEST(cancellation_by_32)
{
	pthread_t thread = stop_spawn(blocker, NULL);

	stop_await(&blocker_quit, 1);
	stop_in_storm(cancel_for_ever, 32);
	stop_set(&blocker_quit, 2);
	pthread_join(thread, NULL);
}

TEST(setresgid_by_33)
{
	stop_in_storm(set_ids_for_ever, 33);
}

SUITE(.setup = stop_setup, .teardown = stop_teardown);
