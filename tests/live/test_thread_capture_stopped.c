/*
 * A program that job control has stopped stays so after a capture, and
 * continues on SIGCONT.
 */
#include <sched.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

/*
 * The kernel wakes a group-stopped thread at the detach, and it stops again
 * before it gets anywhere: state R shows for a moment.
 */
static void
must_be_in_group_stop(pid_t pid, pid_t tid)
{
	int i;

	for (i = 0; i < THREADED_PATIENCE && threaded_state(pid, tid) != 'T';
	     i++)
		usleep(1000);
	ck_assert_int_eq(threaded_state(pid, tid), 'T');
}

/* Stopped as before, not traced, and no thread answers. */
static void
must_sleep_on(struct threaded_child *threaded)
{
	char tracer[64];
	int i;

	ck_assert_int_eq(threaded_each(threaded->pid, must_be_in_group_stop),
	    threaded->threads + 1);
	threaded_status(
	    threaded->pid, threaded->pid, "TracerPid:", tracer, sizeof(tracer));
	ck_assert_int_eq(atoi(tracer), 0);
	threaded_call(threaded);
	usleep(20000); /* long enough to start running by mistake */
	for (i = 0; i <= threaded->threads; i++)
		ck_assert_int_lt(threaded_get(&threaded->shared->answers[i]),
		    threaded->shared->call);
	ck_assert_int_eq(threaded_each(threaded->pid, must_be_in_group_stop),
	    threaded->threads + 1);
}

TEST(group_stop)
{
	static const int signals[] = { SIGSTOP, SIGTSTP };
	struct threaded_child threaded = threaded_start(10, NULL);
	int status, round;
	size_t i;

	for (round = 0; round < 4; round++) {
		kill(threaded.pid, signals[round % 2]);
		waitpid(threaded.pid, &status, WUNTRACED);
		ck_assert(WIFSTOPPED(status));
		must_stop(threaded.pid);
		ck_assert_uint_eq(captured_threads.count, 11);
		for (i = 0; i < captured_threads.count; i++)
			ck_assert_int_eq(captured_threads.tracees[i].state,
			    MU_TRACEE_GROUP_STOPPED);
		mu_threads_release(&captured_threads);
		must_sleep_on(&threaded);
		kill(threaded.pid, SIGCONT);
		waitpid(threaded.pid, &status, WCONTINUED);
		ck_assert(WIFCONTINUED(status));
		threaded_is_unharmed(&threaded);
	}
	threaded_end(&threaded);
}

static void
send_stop_to_leader(void *ctx, pid_t tid)
{
	pid_t pid = *(pid_t *)ctx;

	if (tid != pid)
		return;
	syscall(SYS_tgkill, pid, tid, SIGTSTP);
	while (threaded_state(pid, pid) != 't')
		sched_yield();
}

/* A stop signal that is caught on its way stops the program afterwards. */
TEST(stop_signal_in_delivery)
{
	struct threaded_child threaded = threaded_start(3, NULL);
	struct mu_threads_hooks hooks = { send_stop_to_leader, &threaded.pid };
	int status;
	size_t i;

	ck_assert_int_eq(stop_hooked(threaded.pid, &hooks), MU_OK);
	/* Tids may have wrapped around: the leader need not be the first. */
	for (i = 0; captured_threads.tracees[i].tid != threaded.pid; i++)
		ck_assert_uint_lt(i, captured_threads.count);
	ck_assert_int_eq(
	    captured_threads.tracees[i].state, MU_TRACEE_SIGNAL_STOPPED);
	ck_assert_int_eq(captured_threads.tracees[i].signal, SIGTSTP);
	mu_threads_release(&captured_threads);
	ck_assert_int_eq(
	    waitpid(threaded.pid, &status, WUNTRACED), threaded.pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
	must_sleep_on(&threaded);
	kill(threaded.pid, SIGCONT);
	waitpid(threaded.pid, &status, WCONTINUED);
	threaded_end(&threaded);
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
