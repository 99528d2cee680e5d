/* Raise the priority to the highest that is allowed, and restore it. */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "lib/helpers/priority.h"
#include "mu/sys.h"
#include "ptrace/live/lender.h"
#include "ptrace/live/threads.h"
#include "ptrace/live/wakeup.h"
#include "tests/support/suite.h"

static int
nice_now(void)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, 0);
}

/* Root in a container may be without CAP_SYS_NICE, and cannot go back. */
static bool
may_raise(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setpriority(PRIO_PROCESS, 0, -20) != 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

/* _i: steps down before; a child has what there was. */
TEST_LOOP(raised_and_dropped, 0, 3)
{
	int status, before = nice_now() + _i * 5;
	struct mu_priority priority;
	bool may = may_raise();
	pid_t pid;

	if (!may)
		printf("SKIPPED: raised: no right to raise a priority\n");
	if (before > 19)
		before = 19;
	ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, before), 0);
	mu_priority_raise(&priority);
	if (may)
		ck_assert(sched_getscheduler(0) ==
			(SCHED_FIFO | SCHED_RESET_ON_FORK) ||
		    nice_now() == -20);
	pid = fork();
	if (pid == 0) {
		mu_priority_restore(&priority);
		_exit(sched_getscheduler(0) != SCHED_OTHER ||
		    nice_now() != before);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	mu_priority_restore(&priority);
	ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
	ck_assert_int_eq(nice_now(), before);
}

/* A child that is waited for, and that gives it back without any right. */
TEST(lent)
{
	struct mu_priority priority;
	struct sched_param param = { 0 };
	int status, go[2];
	bool fifo;
	char byte = 0;
	pid_t pid;

	mu_priority_raise(&priority);
	fifo = sched_getscheduler(0) == (SCHED_FIFO | SCHED_RESET_ON_FORK);
	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &byte, 1) != 1 ||
		    (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0))
			_exit(1);
		if (sched_getscheduler(0) != (fifo ? SCHED_FIFO : SCHED_OTHER))
			_exit(2);
		_exit(sched_setscheduler(0, SCHED_BATCH, &param) != 0);
	}
	mu_priority_boost(&priority, pid);
	ck_assert_int_eq(write(go[1], &byte, 1), 1);
	mu_priority_restore(&priority);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* What was allowed before the rights went is there after. */
TEST(allowed_without_rights)
{
	struct mu_priority priority;
	struct rlimit limit;
	int before = nice_now();

	if (geteuid() != 0)
		return;
	mu_priority_allow();
	getrlimit(RLIMIT_RTPRIO, &limit);
	if (limit.rlim_cur == 0) {
		printf("SKIPPED: RLIMIT_RTPRIO cannot be raised here\n");
		return;
	}
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	mu_priority_raise(&priority);
	ck_assert(sched_getscheduler(0) != SCHED_OTHER || nice_now() == -20);
	mu_priority_restore(&priority);
	ck_assert_int_eq(
	    sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
	ck_assert_int_eq(nice_now(), before);
}

static uint64_t
cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &used), 0);
	return (uint64_t)used.tv_sec * MU_NS_PER_SEC + (uint64_t)used.tv_nsec;
}

static pid_t
spin(const cpu_set_t *cpu, int policy)
{
	struct sched_param none = { 0 };
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(*cpu), cpu);
		sched_setscheduler(0, policy, &none);
		for (;;)
			__asm__ volatile("");
	}
	return pid;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* IDLE runs where four others want to run, which have precedence. */
static void
boost(pid_t idle)
{
	uint64_t before, used;
	size_t i, slept = 0;

	if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_FIFO) {
		printf("SKIPPED: lent: this process may not be real-time\n");
		return;
	}
	if (!mu_wakeup_boost(idle)) {
		printf("SKIPPED: lent: Linux before 5.14\n");
		return;
	}
	before = cpu_ns(idle);
	for (i = 0; i < 100; i++)
		slept += mu_wakeup_boost(idle);
	used = cpu_ns(idle) - before;
	ck_assert_uint_eq(slept, 100);
	/* CPU time out of 100 ms. Without the loan it gets 1. */
	ck_assert_uint_ge(used, 50 * MU_NS_PER_MS);
	before = cpu_ns(idle);
	usleep(50000);
	ck_assert_uint_lt(cpu_ns(idle) - before, 25 * MU_NS_PER_MS);
}

/* How long process PID is stopped if it is only stopped and released. */
static uint64_t
stop_ns(pid_t pid, struct mu_lender *lender)
{
	struct mu_arena arena;
	struct mu_threads threads;
	struct mu_why why;

	mu_arena_open(&arena, (size_t)1 << 20);
	ck_assert_int_eq(
	    mu_threads_prepare(&threads, pid, 0, &arena, &why), MU_OK);
	threads.lender = lender;
	ck_assert_msg(mu_threads_stop_listed(&threads,
			  mu_sys_now_ns() + 60 * MU_NS_PER_SEC, &why) == MU_OK,
	    "%s", why.text);
	mu_threads_release(&threads);
	mu_arena_close(&arena);
	return threads.end_ns - threads.begin_ns;
}

/* A thread needs a CPU to stop; IDLE waits for one otherwise. */
static void
stop(pid_t idle, const struct mu_priority *priority)
{
	static struct mu_lender lender;
	uint64_t helped = 0, alone = 0;
	int i;

	if (!priority->above || !mu_wakeup_boost(idle)) {
		printf("SKIPPED: lent: not real-time, or Linux before 5.14\n");
		return;
	}
	mu_lender_open(&lender);
	if (lender.tid == 0) {
		printf("SKIPPED: lent: one CPU\n");
		return;
	}
	for (i = 0; i < 4; i++) {
		alone += stop_ns(idle, NULL);
		helped += stop_ns(idle, &lender);
	}
	ck_assert_msg(helped < alone / 4, "%lu us lent, %lu alone",
	    (unsigned long)helped / 1000, (unsigned long)alone / 1000);
}

/*
 * _i: a thread of the program copies it, or is stopped: what else runs must not
 * delay that.
 */
TEST_LOOP(lent_to_a_thread_that_is_awaited, 0, 2)
{
	struct mu_priority priority;
	cpu_set_t cpus, cpu;
	pid_t idle, busy[4];
	size_t i, at = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(at, &cpus))
		at++;
	CPU_ZERO(&cpu);
	CPU_SET(at, &cpu);
	idle = spin(&cpu, SCHED_IDLE);
	for (i = 0; i < 4; i++)
		busy[i] = spin(&cpu, SCHED_OTHER);
	usleep(50000);
	mu_priority_raise_above(&priority);
	if (_i == 0)
		boost(idle);
	else
		stop(idle, &priority);
	mu_priority_restore(&priority);
	for (i = 0; i < 4; i++)
		end(busy[i]);
	end(idle);
	ck_assert(!mu_wakeup_boost(idle));
}

/* As /proc/PID/stat has it: below 0 for a real-time one. */
static long
priority_of(pid_t pid)
{
	char path[32], text[512];
	long priority = 0;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	ck_assert_int_gt(length, 0);
	text[length] = '\0';
	ck_assert_int_eq(sscanf(strrchr(text, ')') + 1,
			     " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			     " %*s %*s %*s %ld",
			     &priority),
	    1);
	return priority;
}

/* Also if the borrower uses the CPU all the time. */
TEST(loan_ends_at_once)
{
	static struct mu_lender lender;
	struct mu_priority priority;
	cpu_set_t cpus;
	pid_t busy;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	busy = spin(&cpus, SCHED_OTHER);
	mu_priority_raise_above(&priority);
	if (priority.above && mu_wakeup_boost(busy))
		mu_lender_open(&lender);
	if (lender.tid == 0)
		printf("SKIPPED: lent: not real-time, or one CPU\n");
	else
		mu_lender_lend(&lender, busy);
	while (lender.tid != 0 && priority_of(busy) >= 0)
		usleep(1000);
	mu_lender_lend(&lender, 0);
	ck_assert_int_ge(priority_of(busy), 0);
	mu_priority_restore(&priority);
	end(busy);
}
