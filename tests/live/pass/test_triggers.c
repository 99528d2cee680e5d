/*
 * Reports on a signal, whatever the program is doing when it arrives.
 *
 * The scenarios are programs of their own: this one, run again.
 */
#include "tests/support/pass/trigger_scenarios.h"
#include "tests/support/suite.h"

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

/* Requests during a pass lead to one more pass, whatever their number. */
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
	/* If we are kept from sending for long, a report is not waited for. */
	ck_assert_uint_ge(count_text(child.err_text, WAITS), 1);
}

/* exit() waits for the report that was asked for, not for the interval. */
TEST(exit_in_the_interval)
{
	start("exit_at_once", "min_interval=1000s");
	ask(child.pid, SIGNO, 1);
	ck_assert_int_eq(kill(child.pid, SIGNO), 0);
	child_await(&child, child.err_text, WAITS, 1);
	child_finish(&child);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, DONE), 2);
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

SCENARIO_SUITE(trigger_scenarios, .timeout = 0);
