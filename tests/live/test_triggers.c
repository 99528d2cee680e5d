/*
 * Reports without a call: a signal, whatever the program is doing.
 *
 * The scenarios are programs of their own: this one, run again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

/*
 * The programs that tests/live/test_triggers.c asks by signal: idle, busy,
 * daemons. Each says "ready", and ends when its input does.
 */

#define SIGNO (SIGRTMIN + 5)

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

	/* EINTR even with no time to wait: poll() is never restarted. */
	return poll(&wait, 1, 0) > 0;
}

static void
allocate(unsigned rounds)
{
	unsigned i;

	for (i = 0; i < rounds; i++) {
		char *p = malloc(i % 5000 + 1), *q = malloc(3000);

		/* No compiler may do without malloc (clang does). */
		__asm__ volatile("" : "+r"(p), "+r"(q) : : "memory");
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

/*
 * The next line that is logged blocks until our parent reads, and so does each
 * one after it: a pipe of one page polls as writable only when it is empty.
 */
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

static void
await_byte(void)
{
	char byte;

	while (read(0, &byte, 1) < 0 && errno == EINTR)
		continue;
}

/* Forked while a report is being written by the parent. */
static int
fork_in_report(void)
{
	install_earlier();
	if (!watch(SIGNO))
		return 1;
	fill_stderr();
	ready();
	await_byte();
	if (fork() > 0)
		_exit(0); /* and the report of the parent is cut off */
	dprintf(1, "forked %d\n", getpid());
	await_input_end();
	return end(1);
}

/* As above, but while the next report waits for its time. */
static int
fork_in_interval(void)
{
	if (!watch(SIGNO))
		return 1;
	ready();
	await_byte();
	if (fork() > 0)
		_exit(0); /* and the report of the parent never comes */
	dprintf(1, "forked %d\n", getpid());
	await_input_end();
	return end(1);
}

/* One more, and the one that was kept. */
static int
lose_more(void)
{
	if (!watch(SIGUSR2))
		return 1;
	ready();
	await_byte();
	lose();
	scrub_stack();
	dprintf(1, "lost more\n");
	await_input_end();
	return end(1);
}

static int
exit_at_once(void)
{
	if (!watch(SIGNO))
		return 1;
	ready();
	await_input_end();
	return 0;
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
	{ "fork_in_interval", fork_in_interval },
	{ "lose_more", lose_more },
	{ "exit_at_once", exit_at_once },
	{ "by_option", by_option },
	{ "bad_signals", bad_signals },
	{ NULL, NULL },
};

#define PREFIX "libmemunreachable: "
#define WAITS "asked again: the next pass begins in "
#define DONE " unreachable out of "
#define ONE_LEAK "24 bytes in 1 allocation unreachable out of "
#define ASKED 10 /* times */
#define AT_ONCE "min_interval=0"

static struct child child;

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
	    "%s", tail_of(child.err_text));
	ck_assert_ptr_null(strstr(child.err_text, "partial"));
}

static void
start(const char *scenario, const char *options)
{
	child_start(&child, scenario, options);
	await_pid("ready");
}

TEST(idle)
{
	start("idle_in_read", AT_ONCE);
	ask(child.pid, SIGNO, ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_ptr_nonnull(strstr(child.out_text, "interrupted 0\n"));
}

TEST(paused)
{
	start("idle_in_pause", AT_ONCE);
	ask(child.pid, SIGNO, ASKED);
	kill(child.pid, SIGUSR1);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

TEST(within_malloc)
{
	start("busy_in_malloc", AT_ONCE);
	ask(child.pid, SIGNO, 3 * ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

TEST(threads_within_malloc)
{
	start("busy_threads", AT_ONCE);
	ask(child.pid, SIGNO, 3 * ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

TEST(earlier_handlers)
{
	union sigval value = { .sival_int = 42 };
	size_t i;

	start("chained", AT_ONCE);
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

/* The log is full: only stdout is read. */
static void
await_out(const char *word, size_t count)
{
	while (count_text(child.out_text, word) < count) {
		ck_assert_int_ge(child.out, 0);
		child_take(&child.out, child.out_text, &child.out_length);
	}
}

/*
 * Ask, and see the first step of the pass that comes of it: the handler starts
 * a thread, and until that runs, whatever else is asked is answered by its one
 * pass. The second line is in the pipe by then, or will be; the third blocks.
 */
static void
begin_pass(const char *scenario)
{
	child_start(&child, scenario, AT_ONCE ":verbosity=1");
	await_out("ready", 1);
	ck_assert_int_eq(kill(child.pid, SIGNO), 0);
	await_out("handled", 1);
	while (count_text(child.err_text, "collecting thread info") == 0) {
		ck_assert_int_ge(child.err, 0);
		child_take(&child.err, child.err_text, &child.err_length);
	}
}

/* What is asked for during a pass is one more pass, however often. */
TEST(during_a_pass)
{
	size_t i;

	begin_pass("slow_log");
	for (i = 2; i <= ASKED; i++) {
		ck_assert_int_eq(kill(child.pid, SIGNO), 0);
		await_out("handled", i);
	}
	child_await(&child, child.err_text, "  24 bytes unreachable at ", 2);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, DONE), 2);
}

TEST(daemon_child)
{
	pid_t pid;

	child_start(&child, "daemonise", AT_ONCE);
	pid = await_pid("ready");
	ck_assert_int_ne(pid, child.pid);
	ask(pid, SIGNO, ASKED);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

TEST(child_of_a_pass)
{
	const char *at;
	int pid;

	begin_pass("fork_in_report");
	child_say(&child, "x");
	await_out("forked", 1);
	at = strstr(child.out_text, "forked");
	ck_assert_int_eq(sscanf(at, "forked %d", &pid), 1);
	ck_assert_int_eq(kill(pid, SIGNO), 0);
	child_await(&child, child.err_text, "  24 bytes unreachable at ", 1);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

TEST_LOOP(option, 0, 5)
{
	static const char *const names[] = { "signal=RTMIN+5:" AT_ONCE,
		"signal=SIGUSR2:" AT_ONCE, "signal=usr2:" AT_ONCE,
		"signal=40:" AT_ONCE, "signal=SIGRTMAX-3:" AT_ONCE };
	const int numbers[] = { SIGRTMIN + 5, SIGUSR2, SIGUSR2, 40,
		SIGRTMAX - 3 };

	start("by_option", names[_i]);
	ask(child.pid, numbers[_i], 2);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * As many signals as the kernel takes: no pass begins within min_interval of
 * the end of the last one, and what was lost before the last signal is
 * reported.
 */
TEST(storm)
{
	uint64_t begin, length;
	size_t reports;

	start("lose_more", "min_interval=400ms");
	begin = now_ms();
	do
		ck_assert_int_eq(kill(child.pid, SIGUSR2), 0);
	while (now_ms() - begin < 1200);
	child_say(&child, "x");
	child_await(&child, child.out_text, "lost more\n", 1);
	ck_assert_int_eq(kill(child.pid, SIGUSR2), 0);
	child_await(&child, child.err_text,
	    PREFIX "72 bytes in 3 allocations unreachable out of ", 1);
	length = now_ms() - begin;
	reports = count_text(child.err_text, DONE);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_uint_ge(reports, 2);
	ck_assert_msg(reports <= 1 + length / 400, "%zu reports in %zu ms",
	    reports, (size_t)length);
	/* Each but the first was waited for, and said so. */
	ck_assert_uint_ge(count_text(child.err_text, WAITS), reports - 1);
}

/* The sleeping thread does not keep the program from ending. */
TEST(exit_in_the_interval)
{
	start("exit_at_once", "min_interval=1000s");
	ask(child.pid, SIGNO, 1);
	ck_assert_int_eq(kill(child.pid, SIGNO), 0);
	child_await(&child, child.err_text, WAITS, 1);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, DONE), 1);
}

/* A fork leaves the sleeper behind; the child still answers. */
TEST(fork_in_the_interval)
{
	const char *at;
	int pid;

	start("fork_in_interval", "min_interval=2s");
	ask(child.pid, SIGNO, 1);
	ck_assert_int_eq(kill(child.pid, SIGNO), 0);
	child_await(&child, child.err_text, WAITS, 1);
	child_say(&child, "x");
	child_await(&child, child.out_text, "forked", 1);
	at = strstr(child.out_text, "forked");
	ck_assert_int_eq(sscanf(at, "forked %d", &pid), 1);
	ck_assert_int_eq(kill(pid, SIGNO), 0);
	child_await(&child, child.err_text, "  24 bytes unreachable at ", 2);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

TEST(not_to_be_watched)
{
	child_run(&child, "bad_signals", NULL);
	child_assert_exit(&child, 0);
}

static int
play(int argc, char **argv)
{
	return scenario_run(scenarios, argc, argv);
}

SUITE(.play = play);
