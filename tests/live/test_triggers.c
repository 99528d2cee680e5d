/*
 * Reports that nobody calls for: a signal, whatever the program is doing.
 *
 * The scenarios are programs of their own: this one, run again. They end when
 * their input does.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/scenario.h"

#define SIGNO (SIGRTMIN + 5)
#define DONE "unreachable memory detection done\n"
#define ONE_LEAK "24 bytes in 1 allocation unreachable out of "
#define ASKED 10 /* times */

static struct child child;

/* ---- scenarios ---- */

static void *volatile kept;

/*
 * The block behind it stays: malloc knows a chunk by the address 16 below the
 * block, which is inside the one before it. While malloc works on a neighbour,
 * its registers refer to the lost block.
 */
static __attribute__((noinline)) void
lose(void)
{
	mu_hide(memset(malloc(24), 'x', 24));
	kept = malloc(24);
}

static void
ready(void)
{
	lose();
	scrub_stack();
	dprintf(1, "ready %d\n", getpid());
}

static size_t
count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

/* Nothing of the passes may be left; the last thread is just going. */
static int
end(size_t threads)
{
	int tries;

	for (tries = 0; tries < 500 && count_threads() != threads; tries++)
		usleep(10000);
	if (count_threads() != threads)
		return 50;
	if (waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD)
		return 51;
	return 0;
}

static bool
watch(int signo)
{
	return memunreachable_watch_signal(signo);
}

static int
idle_in_read(void)
{
	int interrupted = 0;
	char byte;
	ssize_t n;

	if (!watch(SIGNO))
		return 1;
	ready();
	do {
		n = read(0, &byte, 1);
		interrupted += n < 0;
	} while (n != 0);
	dprintf(1, "interrupted %d\n", interrupted);
	return end(1);
}

static void
on_usr1(int signo)
{
	(void)signo;
	_exit(0);
}

static int
idle_in_pause(void)
{
	signal(SIGUSR1, on_usr1);
	if (!watch(SIGNO))
		return 1;
	ready();
	for (;;)
		pause();
}

static bool
input_ended(void)
{
	struct pollfd wait = { 0, POLLIN, 0 };

	return poll(&wait, 1, 0) != 0;
}

static void
allocate(unsigned rounds)
{
	unsigned i;

	for (i = 0; i < rounds; i++) {
		char *p = malloc(i % 5000 + 1), *q = malloc(3000);

		p[0] = q[0] = 1;
		q = realloc(q, 9000 - i % 5000);
		q[0] = p[0];
		free(p);
		free(q);
	}
}

static int
busy_in_malloc(void)
{
	if (!watch(SIGNO))
		return 1;
	ready();
	while (!input_ended())
		allocate(10000);
	return end(1);
}

static volatile sig_atomic_t ending;

static void *
busy_body(void *arg)
{
	while (!ending)
		allocate(1000);
	return arg;
}

static int
busy_threads(void)
{
	pthread_t threads[4];
	size_t i;

	if (!watch(SIGNO))
		return 1;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, busy_body, NULL);
	ready();
	while (!input_ended())
		allocate(10000);
	ending = 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return end(1);
}

static volatile sig_atomic_t plain_calls, siginfo_calls, siginfo_sum;

static void
on_plain(int signo)
{
	plain_calls += signo == SIGUSR2;
	dprintf(1, "handled\n");
}

static void
on_siginfo(int signo, siginfo_t *info, void *context)
{
	siginfo_calls += signo == SIGNO && context != NULL;
	siginfo_sum += info->si_value.sival_int;
	dprintf(1, "handled\n");
}

static void
install_earlier(void)
{
	struct sigaction siginfo = { .sa_sigaction = on_siginfo,
		.sa_flags = SA_SIGINFO };
	struct sigaction plain = { .sa_handler = on_plain };

	sigaction(SIGNO, &siginfo, NULL);
	sigaction(SIGUSR2, &plain, NULL);
}

static void
await_input_end(void)
{
	char byte;
	ssize_t n;

	do
		n = read(0, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Watched twice, which must not chain a handler to itself. */
static int
chained(void)
{
	install_earlier();
	if (!watch(SIGNO) || !watch(SIGUSR2) || !watch(SIGNO))
		return 1;
	ready();
	await_input_end();
	dprintf(1, "plain %d siginfo %d sum %d\n", (int)plain_calls,
	    (int)siginfo_calls, (int)siginfo_sum);
	return end(1);
}

/* The next line that is logged blocks until our parent reads. */
static void
fill_stderr(void)
{
	char full[4096];

	memset(full, '\n', sizeof(full));
	if (fcntl(2, F_SETPIPE_SZ, 4096) != 4096 ||
	    write(2, full, sizeof(full)) != sizeof(full))
		_exit(60);
}

static int
slow_log(void)
{
	install_earlier();
	if (!watch(SIGNO))
		return 1;
	fill_stderr();
	ready();
	await_input_end();
	return end(1);
}

/* Our parent exits, as that of a daemon does. */
static int
daemonise(void)
{
	if (!watch(SIGNO))
		return 1;
	if (fork() > 0)
		_exit(0);
	setsid();
	ready();
	await_input_end();
	return end(1);
}

/* Forked while a report is being written by the parent. */
static int
fork_in_report(void)
{
	char byte;

	install_earlier();
	if (!watch(SIGNO))
		return 1;
	fill_stderr();
	ready();
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		continue;
	if (fork() > 0)
		_exit(0); /* and the report of the parent is cut off */
	dprintf(1, "forked %d\n", getpid());
	await_input_end();
	return end(1);
}

static int
by_option(void)
{
	ready();
	await_input_end();
	return end(1);
}

static int
bad_signals(void)
{
	static const int bad[] = { 0, -1, 65, 1000, SIGKILL, SIGSTOP, 32, 33 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		if (watch(bad[i]) || errno == 0)
			return 70 + (int)i;
	}
	return 0;
}

static const struct scenario scenarios[] = {
	{ "idle_in_read", idle_in_read },
	{ "idle_in_pause", idle_in_pause },
	{ "busy_in_malloc", busy_in_malloc },
	{ "busy_threads", busy_threads },
	{ "chained", chained },
	{ "slow_log", slow_log },
	{ "daemonise", daemonise },
	{ "fork_in_report", fork_in_report },
	{ "by_option", by_option },
	{ "bad_signals", bad_signals },
	{ NULL, NULL },
};

/* ---- signals ---- */

static pid_t
await_pid(const char *word)
{
	char format[32];
	const char *at;
	int pid;

	child_await(&child, child.out_text, word, 1);
	/* The whole line, as it is written at once. */
	at = strstr(child.out_text, word);
	snprintf(format, sizeof(format), "%s %%d", word);
	ck_assert_int_eq(sscanf(at, format, &pid), 1);
	return pid;
}

/* Ask TIMES, one after the other; every report is complete and right. */
static void
ask(pid_t pid, int signo, size_t times)
{
	size_t i, before = count_text(child.err_text, ONE_LEAK);

	for (i = 1; i <= times; i++) {
		ck_assert_int_eq(kill(pid, signo), 0);
		child_await(&child, child.err_text,
		    "  24 bytes unreachable at ", before + i);
	}
	ck_assert_uint_eq(count_text(child.err_text, DONE), before + times);
	ck_assert_msg(count_text(child.err_text, ONE_LEAK) == before + times,
	    "%s", child.err_text);
	ck_assert_ptr_null(strstr(child.err_text, "partial"));
}

static void
start(const char *scenario, const char *options)
{
	child_start(&child, scenario, options);
	await_pid("ready");
}

START_TEST(idle)
{
	start("idle_in_read", NULL);
	ask(child.pid, SIGNO, ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_ptr_nonnull(strstr(child.out_text, "interrupted 0\n"));
}
END_TEST

START_TEST(paused)
{
	start("idle_in_pause", NULL);
	ask(child.pid, SIGNO, ASKED);
	kill(child.pid, SIGUSR1);
	child_finish(&child);
	child_assert_exit(&child, 0);
}
END_TEST

START_TEST(within_malloc)
{
	start("busy_in_malloc", NULL);
	ask(child.pid, SIGNO, 3 * ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
}
END_TEST

START_TEST(threads_within_malloc)
{
	start("busy_threads", NULL);
	ask(child.pid, SIGNO, 3 * ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
}
END_TEST

START_TEST(earlier_handlers)
{
	union sigval value = { .sival_int = 42 };
	size_t i;

	start("chained", NULL);
	for (i = 1; i <= 3; i++) {
		ask(child.pid, SIGUSR2, 1);
		ck_assert_int_eq(sigqueue(child.pid, SIGNO, value), 0);
		child_await(&child, child.err_text,
		    "  24 bytes unreachable at ", 2 * i);
		child_await(&child, child.out_text, "handled\n", 2 * i);
	}
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_ptr_nonnull(
	    strstr(child.out_text, "plain 3 siginfo 3 sum 126\n"));
	ck_assert_uint_eq(count_text(child.err_text, DONE), 6);
}
END_TEST

/* What is asked for during a pass is one more pass, however often. */
START_TEST(during_a_pass)
{
	size_t i;

	/* The log is full: await_pid() must not read it. */
	child_start(&child, "slow_log", NULL);
	while (count_text(child.out_text, "ready") == 0)
		child_take(&child.out, child.out_text, &child.out_length);
	for (i = 1; i <= ASKED; i++) {
		ck_assert_int_eq(kill(child.pid, SIGNO), 0);
		while (count_text(child.out_text, "handled") < i)
			child_take(
			    &child.out, child.out_text, &child.out_length);
	}
	child_await(&child, child.err_text, "  24 bytes unreachable at ", 2);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, DONE), 2);
}
END_TEST

START_TEST(daemon_child)
{
	pid_t pid;

	child_start(&child, "daemonise", NULL);
	pid = await_pid("ready");
	ck_assert_int_ne(pid, child.pid);
	ask(pid, SIGNO, ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
}
END_TEST

START_TEST(child_of_a_pass)
{
	const char *at;
	int pid;

	child_start(&child, "fork_in_report", NULL);
	while (count_text(child.out_text, "ready") == 0)
		child_take(&child.out, child.out_text, &child.out_length);
	ck_assert_int_eq(kill(child.pid, SIGNO), 0);
	while (count_text(child.out_text, "handled") < 1)
		child_take(&child.out, child.out_text, &child.out_length);
	child_say(&child, "x");
	while ((at = strstr(child.out_text, "forked")) == NULL)
		child_take(&child.out, child.out_text, &child.out_length);
	ck_assert_int_eq(sscanf(at, "forked %d", &pid), 1);
	ck_assert_int_eq(kill(pid, SIGNO), 0);
	child_await(&child, child.err_text, "  24 bytes unreachable at ", 1);
	child_finish(&child);
	child_assert_exit(&child, 0);
}
END_TEST

START_TEST(option)
{
	static const char *const names[] = { "signal=RTMIN+5", "signal=SIGUSR2",
		"signal=usr2", "signal=40", "signal=SIGRTMAX-3" };
	const int numbers[] = { SIGRTMIN + 5, SIGUSR2, SIGUSR2, 40,
		SIGRTMAX - 3 };

	start("by_option", names[_i]);
	ask(child.pid, numbers[_i], 2);
	child_finish(&child);
	child_assert_exit(&child, 0);
}
END_TEST

START_TEST(not_to_be_watched)
{
	child_run(&child, "bad_signals", NULL);
	child_assert_exit(&child, 0);
}
END_TEST

static Suite *
triggers_suite(void)
{
	Suite *suite = suite_create("triggers");
	TCase *by_signal = tcase_create("signal");

	tcase_set_timeout(by_signal, 120);
	tcase_add_test(by_signal, idle);
	tcase_add_test(by_signal, paused);
	tcase_add_test(by_signal, within_malloc);
	tcase_add_test(by_signal, threads_within_malloc);
	tcase_add_test(by_signal, earlier_handlers);
	tcase_add_test(by_signal, during_a_pass);
	tcase_add_test(by_signal, daemon_child);
	tcase_add_test(by_signal, child_of_a_pass);
	tcase_add_loop_test(by_signal, option, 0, 5);
	tcase_add_test(by_signal, not_to_be_watched);
	suite_add_tcase(suite, by_signal);
	return suite;
}

int
main(int argc, char **argv)
{
	int failed = scenario_run(scenarios, argc, argv);
	SRunner *runner;

	if (failed >= 0)
		return failed;
	runner = srunner_create(triggers_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
