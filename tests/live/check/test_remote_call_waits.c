/*
 * Make a system call in a thread that is in a system call, which then
 * continues. Calls that are not restarted after a ptrace stop, such as
 * epoll_wait(), return EINTR after any stop; so results are compared with a
 * stop in which nothing is done.
 */
#include "tests/support/stop/injected.h"
#include "tests/support/suite.h"

#define ROUNDS 5
#define KILLED 20

static const struct {
	const char *name;
	struct sitter sitter;
} table[] = {
	{ "pause", { get_nothing, sit_pause } },
	{ "sigsuspend", { get_nothing, sit_sigsuspend } },
	{ "nanosleep", { get_nothing, sit_nanosleep } },
	{ "clock_nanosleep relative", { get_nothing, sit_clock_relative } },
	{ "clock_nanosleep absolute", { get_nothing, sit_clock_absolute } },
	{ "poll", { get_pipe, sit_poll } },
	{ "poll with a timeout", { get_pipe, sit_poll_timed } },
	{ "ppoll", { get_pipe, sit_ppoll } },
	{ "select", { get_pipe, sit_select } },
	{ "pselect", { get_pipe, sit_pselect } },
	{ "epoll_wait", { get_epoll, sit_epoll_wait } },
	{ "epoll_pwait2", { get_epoll, sit_epoll_pwait2 } },
	{ "futex", { get_nothing, sit_futex } },
	{ "futex with a timeout", { get_nothing, sit_futex_timed } },
	{ "cond with a timeout", { get_nothing, sit_cond_timed } },
	{ "mutex with a timeout", { get_locked_mutex, sit_mutex_timed } },
	{ "sem with a timeout", { get_sem, sit_sem_timedwait } },
	{ "sigtimedwait", { get_waited_signal, sit_sigtimedwait } },
	{ "sigwaitinfo", { get_waited_signal, sit_sigwaitinfo } },
	{ "sigwait", { get_waited_signal, sit_sigwait } },
	{ "read of a pipe", { get_pipe, sit_read } },
	{ "read of a terminal", { get_terminal, sit_read } },
	{ "read of a timerfd", { get_timerfd, sit_read } },
	{ "read of an inotify", { get_inotify, sit_read } },
	{ "write to a pipe", { get_full_pipe, sit_write } },
	{ "recv", { get_sockets, sit_recv } },
	{ "recv with a timeout", { get_timed_sockets, sit_recv } },
	{ "recv of all", { get_started_socket, sit_recv_all } },
	{ "accept", { get_listener, sit_accept } },
	{ "wait4", { get_child, sit_waitpid } },
	{ "waitid", { get_child, sit_waitid } },
	{ "flock", { get_flock, sit_flock } },
	{ "setlk", { get_setlk, sit_setlk } },
	{ "msgrcv", { get_msg, sit_msgrcv } },
	{ "semop", { get_semop, sit_semop } },
	{ "semtimedop", { get_semop, sit_semtimedop } },
	{ "mq with a timeout", { get_mq, sit_mq_timed } },
	{ "io_getevents", { get_aio, sit_io_getevents } },
};

#define CALLS ((int)(sizeof(table) / sizeof(table[0])))

struct outcome {
	int ended, error;
	long result;
	uint64_t mask;
	char line[256]; /* /proc/PID/syscall at the end: number, arguments, */
};                      /* stack pointer, pc */

/* Five stops, with a call in each, or without. */
static bool
stops(int i, bool with_call, struct outcome *out)
{
	pid_t pid = sitter_start(&table[i].sitter);
	int round;

	memset(out, 0, sizeof(*out));
	if (pid == 0)
		return false;
	for (round = 0; round < ROUNDS; round++) {
		must_stop(pid);
		if (with_call)
			must_call(pid);
		mu_threads_release(&captured_threads);
		must_sit(pid, out->line, sizeof(out->line));
		usleep(1000);
	}
	must_sit(pid, out->line, sizeof(out->line));
	out->ended = threaded_get(&sat->ended);
	out->result = sat->result;
	out->error = sat->error;
	out->mask = sat->mask;
	sitter_end(pid);
	blocking_clean();
	return true;
}

/* Absolute times differ, and addresses of each program's stack. */
static void
cut(char *line)
{
	line[strcspn(line, " ")] = '\0';
}

TEST_LOOP(goes_on, 0, CALLS)
{
	struct outcome with, without;

	if (!stops(_i, false, &without) || !stops(_i, true, &with)) {
		printf("SKIPPED: %s: not here\n", table[_i].name);
		return;
	}
	cut(with.line);
	cut(without.line);
	ck_assert_msg(with.ended == without.ended &&
		with.result == without.result && with.error == without.error &&
		with.mask == without.mask &&
		strcmp(with.line, without.line) == 0,
	    "%s: ended %d: %ld, errno %d, mask %lx, in call %s; without us %d:"
	    " %ld, %d, %lx, %s",
	    table[_i].name, with.ended, with.result, with.error,
	    (unsigned long)with.mask, with.line, without.ended, without.result,
	    without.error, (unsigned long)without.mask, without.line);
}

static bool
is_killed_once(int i, struct outcome *out)
{
	pid_t pid = sitter_start(&table[i].sitter);

	memset(out, 0, sizeof(*out));
	if (pid == 0)
		return false;
	be_killed(pid);
	must_sit(pid, out->line, sizeof(out->line));
	usleep(1000);
	out->ended = threaded_get(&sat->ended);
	out->result = sat->result;
	out->error = sat->error;
	out->mask = sat->mask;
	threaded_status(pid, pid, "SigBlk:", out->line, sizeof(out->line));
	sitter_end(pid);
	blocking_clean();
	return true;
}

/*
 * The tracer's end in the middle of a call: the program's own call continues,
 * with the mask that it had.
 */
TEST_LOOP(goes_on_without_a_tracer, 0, CALLS)
{
	struct outcome with, without;
	int round;

	if (!stops(_i, false, &without))
		return;
	srand((unsigned)_i);
	for (round = 0; round < KILLED; round++) {
		ck_assert(is_killed_once(_i, &with));
		ck_assert_msg(with.ended == without.ended &&
			with.result == without.result &&
			with.error == without.error &&
			with.mask == without.mask &&
			strncmp(with.line, "00000000", 8) == 0,
		    "%s, round %d: ended %d: %ld, errno %d, mask %lx, %s",
		    table[_i].name, round, with.ended, with.result, with.error,
		    (unsigned long)with.mask, with.line);
	}
}

/* A handler's signal ends it then, as always. 0, or how it did not. */
static const char *
ended_by_handler(void)
{
	if (!threaded_get(&sat->ended))
		return "it sits on";
	if (sat->result != -1 || sat->error != EINTR)
		return "not with EINTR";
	if (sat->handled[SIGUSR1] != 1)
		return "the handler did not run once";
	return sat->mask == 0 ? NULL : "the mask is another";
}

/* After our call; then while we hold the thread, before and behind the call. */
static void
must_be_interrupted(int i, int moment)
{
	pid_t pid = sitter_start(&table[i].sitter);
	const char *wrong;
	char line[256];

	if (pid == 0)
		return;
	must_stop(pid);
	if (moment == 1)
		kill(pid, SIGUSR1);
	must_call(pid);
	if (moment == 2)
		kill(pid, SIGUSR1);
	mu_threads_release(&captured_threads);
	if (moment == 0) {
		must_sit(pid, line, sizeof(line));
		kill(pid, SIGUSR1);
	}
	threaded_await(&sat->ended, 1);
	wrong = ended_by_handler();
	ck_assert_msg(wrong == NULL, "%s, signal %d: %s (%ld, %d, %lx)",
	    table[i].name, moment, wrong, sat->result, sat->error,
	    (unsigned long)sat->mask);
	sitter_end(pid);
	blocking_clean();
}

/* The calls of the first rows of the table: all of them restart. */
#define INTERRUPTED 10

TEST_LOOP(signals_interrupt, 0, INTERRUPTED)
{
	int moment;

	for (moment = 0; moment < 3; moment++)
		must_be_interrupted(_i, moment);
}

/* Blocked but in sigsuspend(), whose mask is the thread's for that long. */
static bool
get_blocked_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigprocmask(SIG_BLOCK, &set, NULL) == 0;
}

TEST_LOOP(mask_of_sigsuspend, 0, 6)
{
	const struct sitter sitter = { get_blocked_signal,
		_i < 3 ? sit_sigsuspend : sit_ppoll };
	pid_t pid = sitter_start(&sitter);
	char line[256];

	must_stop(pid);
	if (_i % 3 == 1)
		kill(pid, SIGUSR1);
	must_call(pid);
	if (_i % 3 == 2)
		kill(pid, SIGUSR1);
	mu_threads_release(&captured_threads);
	if (_i % 3 == 0) {
		must_sit(pid, line, sizeof(line));
		ck_assert_int_eq(sat->handled[SIGUSR1], 0);
		kill(pid, SIGUSR1);
	}
	threaded_await(&sat->ended, 1);
	ck_assert_int_eq(sat->handled[SIGUSR1], 1);
	ck_assert_int_eq(sat->error, EINTR);
	ck_assert_uint_eq(sat->mask, (uint64_t)1 << (SIGUSR1 - 1));
	sitter_end(pid);
}

#define SPAN_MS 400

#define SHORT(name, expression)                                   \
	static long name(void)                                    \
	{                                                         \
		struct timespec span = { 0, SPAN_MS * 1000000l }; \
		struct timeval small = { 0, SPAN_MS * 1000l };    \
		struct timespec at;                               \
                                                                  \
		clock_gettime(CLOCK_MONOTONIC, &at);              \
		at.tv_nsec += span.tv_nsec;                       \
		at.tv_sec += at.tv_nsec / 1000000000;             \
		at.tv_nsec %= 1000000000;                         \
		(void)small;                                      \
		return expression;                                \
	}

SHORT(short_nanosleep, nanosleep(&span, NULL))
SHORT(short_clock, clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL))
SHORT(
    short_absolute, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
SHORT(short_poll, poll(NULL, 0, SPAN_MS))
SHORT(short_ppoll, ppoll(NULL, 0, &span, NULL))
SHORT(short_select, select(0, NULL, NULL, NULL, &small))
SHORT(short_futex, syscall(SYS_futex, &blocking_word, 0, 0, &span, NULL, 0))

static long (*const shorts[])(void) = { short_nanosleep, short_clock,
	short_absolute, short_poll, short_ppoll, short_select, short_futex };

#define SHORTS ((int)(sizeof(shorts) / sizeof(shorts[0])))

/* 0: it slept as long as it was told; else for how long, in milliseconds. */
static uint64_t
wrong_sleep(long (*sit)(void))
{
	const struct sitter sitter = { NULL, sit };
	pid_t pid = sitter_start(&sitter);
	uint64_t ms;
	int round;

	for (round = 0; round < 10; round++) {
		inject(pid);
		usleep(20000);
	}
	threaded_await(&sat->ended, 1);
	ck_assert_msg(sat->result == 0 || sat->error == ETIMEDOUT,
	    "%ld, errno %d", sat->result, sat->error);
	sitter_end(pid);
	ms = sat->ns / 1000000;
	ck_assert_uint_ge(ms, SPAN_MS - 1);
	/* A call that restarts with its whole timeout lasts 200 ms longer. */
	return ms < SPAN_MS + 150 ? 0 : ms;
}

/*
 * A sleep lasts as long in many pieces as in one. On a loaded machine several
 * tries are made.
 */
TEST_LOOP(sleeps_its_time, 0, SHORTS)
{
	uint64_t ms = 1;
	int tries;

	for (tries = 0; tries < 5 && ms != 0; tries++)
		ms = wrong_sleep(shorts[_i]);
	ck_assert_msg(ms == 0, "%d ms", (int)ms);
}

/* Queued before, while and after: each counts once. */
TEST(queued_signals)
{
	const struct sitter sitter = { NULL, sit_pause };
	pid_t pid = sitter_start(&sitter);
	siginfo_t info;
	int i, sent = 0;

	for (i = 0; i < 60; i++) {
		memset(&info, 0, sizeof(info));
		info.si_code = SI_QUEUE;
		sent += syscall(SYS_rt_sigqueueinfo, pid, SIGRTMIN, &info) == 0;
		if (i % 3 == 0)
			must_stop(pid);
		if (i % 3 == 1 &&
		    captured_threads.tracees[0].state == MU_TRACEE_STOPPED)
			must_call(pid);
		if (i % 3 == 2)
			mu_threads_release(&captured_threads);
	}
	threaded_await(&sat->handled[SIGRTMIN], sent);
	usleep(10000);
	ck_assert_int_eq(sat->handled[SIGRTMIN], sent);
	sitter_end(pid);
}

/* SIGSTOP gets through: the program is stopped afterwards, and can be
 * continued. */
TEST(stopped_in_between)
{
	const struct sitter sitter = { NULL, sit_nanosleep };
	pid_t pid = sitter_start(&sitter);
	int round, status;
	char line[256];

	for (round = 0; round < 10; round++) {
		must_stop(pid);
		kill(pid, SIGSTOP);
		must_call(pid);
		ck_assert_int_eq(
		    captured_threads.tracees[0].state, MU_TRACEE_GROUP_STOPPED);
		mu_threads_release(&captured_threads);
		ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
		ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
		kill(pid, SIGCONT);
		ck_assert_int_eq(waitpid(pid, &status, WCONTINUED), pid);
		ck_assert(WIFCONTINUED(status));
		must_sit(pid, line, sizeof(line));
	}
	ck_assert_int_eq(threaded_get(&sat->ended), 0);
	sitter_end(pid);
}

SUITE(.unfiltered = SUITE_INJECTS, .setup = captured_setup,
    .teardown = captured_teardown);
