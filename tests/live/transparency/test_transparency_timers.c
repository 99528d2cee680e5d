/*
 * Timers of every kind during passes: no expiration is lost (overruns that the
 * kernel reports are counted) or added, and the settings are unchanged.
 */
#include <sys/time.h>
#include <sys/timerfd.h>

#include "tests/support/faults/transparency.h"
#include "tests/support/suite.h"

#define NS_PER_SEC 1000000000ull
#define INTERVAL_NS 1000000ull
#define PASSES 40
#define SIGNAL_PROCESS (SIGRTMIN + 1)
#define SIGNAL_THREAD (SIGRTMIN + 2)
#define SIGNAL_CPU (SIGRTMIN + 3)

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* By signal number. */
static unsigned long counted[65];
static unsigned long signals[65], misplaced;
static pid_t target;

static void
on_timer(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code != SI_TIMER ||
	    (signo == SIGNAL_THREAD && gettid() != target))
		__atomic_add_fetch(&misplaced, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&counted[signo], 1 + (unsigned long)info->si_overrun,
	    __ATOMIC_SEQ_CST);
}

static void
on_itimer(int signo)
{
	__atomic_add_fetch(&signals[signo], 1, __ATOMIC_SEQ_CST);
}

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

/* A thread that computes, so that all clocks go on. */
static void *
compute(void *arg)
{
	volatile unsigned long work = 0;

	__atomic_store_n(&target, gettid(), __ATOMIC_SEQ_CST);
	while (!transparency_get(arg))
		work++;
	return NULL;
}

struct kind {
	clockid_t clock;
	int signo;
	bool exact;
	timer_t timer;
	uint64_t before, after; /* when it was set */
};

static void
start(struct kind *kind)
{
	struct itimerspec each = { { 0, INTERVAL_NS }, { 0, INTERVAL_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = kind->signo };
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = on_timer;
	ck_assert_int_eq(sigaction(kind->signo, &action, NULL), 0);
	if (kind->signo == SIGNAL_THREAD) {
		event.sigev_notify = SIGEV_THREAD_ID;
		event.sigev_notify_thread_id = target;
	}
	ck_assert_int_eq(timer_create(kind->clock, &event, &kind->timer), 0);
	kind->before = now_ns(kind->clock);
	ck_assert_int_eq(timer_settime(kind->timer, 0, &each, NULL), 0);
	kind->after = now_ns(kind->clock);
}

/*
 * The expirations must not be more than there was time for; where the clock is
 * exact they must be all of them, once the last one has been delivered: poll
 * until it has.
 */
static void
expect_count(const struct kind *kind)
{
	struct itimerspec now;
	unsigned long count, due;
	int tries;

	for (tries = 0;; tries++) {
		due = (now_ns(kind->clock) - kind->after) / INTERVAL_NS;
		count =
		    __atomic_load_n(&counted[kind->signo], __ATOMIC_SEQ_CST);
		if (!kind->exact || count + 2 >= due)
			break;
		ck_assert_msg(tries < 20000, "%lu of %lu", count, due);
		usleep(200);
	}
	due = (now_ns(kind->clock) - kind->before) / INTERVAL_NS;
	ck_assert_uint_le(count, due + 1);
	ck_assert_uint_ge(count, 1);
	ck_assert_int_eq(timer_gettime(kind->timer, &now), 0);
	ck_assert_int_eq(now.it_interval.tv_sec, 0);
	ck_assert_int_eq(now.it_interval.tv_nsec, INTERVAL_NS);
	timer_delete(kind->timer);
}

TEST_LOOP(timers, 0, TRANSPARENCY_METHODS)
{
	struct kind kinds[] = {
		{ .clock = CLOCK_MONOTONIC,
		    .signo = SIGNAL_PROCESS,
		    .exact = true },
		{ .clock = CLOCK_MONOTONIC,
		    .signo = SIGNAL_THREAD,
		    .exact = true },
		{ .clock = CLOCK_PROCESS_CPUTIME_ID, .signo = SIGNAL_CPU },
	};
	size_t i, n = sizeof(kinds) / sizeof(kinds[0]);
	pthread_t thread;
	int stop = 0;

	transparency_spawn(&thread, compute, &stop);
	transparency_await(&target, 1);
	for (i = 0; i < n; i++)
		start(&kinds[i]);
	transparency_passes(_i, PASSES);
	for (i = 0; i < n; i++)
		expect_count(&kinds[i]);
	transparency_set(&stop, 1);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(misplaced, 0);
}

/* Signals are merged: no more than were due arrive, and they continue. */
TEST_LOOP(interval_timers, 0, TRANSPARENCY_METHODS)
{
	static const struct {
		int which, signo;
	} kinds[] = {
		{ ITIMER_REAL, SIGALRM },
		{ ITIMER_VIRTUAL, SIGVTALRM },
		{ ITIMER_PROF, SIGPROF },
	};
	/* The CPU time of a program is the sum over all CPUs. */
	unsigned long cpus = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
	struct itimerval each = { { 0, 4000 }, { 0, 4000 } }, now;
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	unsigned long before;
	pthread_t thread;
	int stop = 0, i;

	transparency_spawn(&thread, compute, &stop);
	for (i = 0; i < 3; i++) {
		struct sigaction action = { .sa_handler = on_itimer,
			.sa_flags = SA_RESTART };

		ck_assert_int_eq(sigaction(kinds[i].signo, &action, NULL), 0);
		ck_assert_int_eq(setitimer(kinds[i].which, &each, NULL), 0);
	}
	transparency_passes(_i, PASSES);
	for (i = 0; i < 3; i++) {
		before =
		    __atomic_load_n(&signals[kinds[i].signo], __ATOMIC_SEQ_CST);
		ck_assert_uint_le(before,
		    (i == 0 ? 1 : cpus) *
			    ((now_ns(CLOCK_MONOTONIC) - began) / 4000000) +
			2);
		while (__atomic_load_n(&signals[kinds[i].signo],
			   __ATOMIC_SEQ_CST) < before + 2)
			usleep(200);
		ck_assert_int_eq(getitimer(kinds[i].which, &now), 0);
		ck_assert_int_eq(now.it_interval.tv_sec, 0);
	}
	transparency_set(&stop, 1);
	pthread_join(thread, NULL);
}

TEST_LOOP(timer_descriptor, 0, TRANSPARENCY_METHODS)
{
	struct itimerspec each = { { 0, INTERVAL_NS }, { 0, INTERVAL_NS } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), stop = 0;
	uint64_t before, after, due, expirations = 0;
	pthread_t thread;

	transparency_spawn(&thread, compute, &stop);
	before = now_ns(CLOCK_MONOTONIC);
	ck_assert_int_eq(timerfd_settime(fd, 0, &each, NULL), 0);
	after = now_ns(CLOCK_MONOTONIC);
	transparency_passes(_i, PASSES);
	due = (now_ns(CLOCK_MONOTONIC) - after) / INTERVAL_NS;
	ck_assert_int_eq(read(fd, &expirations, 8), 8);
	/*
	 * At least the number due before the reading, and at most that due
	 * after it.
	 */
	ck_assert_uint_ge(expirations + 1, due);
	due = (now_ns(CLOCK_MONOTONIC) - before) / INTERVAL_NS;
	ck_assert_uint_le(expirations, due + 1);
	transparency_set(&stop, 1);
	pthread_join(thread, NULL);
}
