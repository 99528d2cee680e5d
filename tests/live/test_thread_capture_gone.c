/*
 * Stopping the threads of a process that has ended or ends during the stop, or
 * whose leader has ended.
 */
#include <sched.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

struct kill_plan {
	pid_t pid;
	int countdown; /* at the how many-th thread */
};

static void
kill_it(void *ctx, pid_t tid)
{
	struct kill_plan *plan = ctx;

	(void)tid;
	if (--plan->countdown == 0)
		kill(plan->pid, SIGKILL);
}

/* The kill at the first thread, in the middle, and at the last. */
TEST_LOOP(capture_kill, 0, 4)
{
	static const int at[] = { 1, 6, 11 };
	int count = _i == 0 ? 0 : 10, status;
	struct threaded_child threaded = threaded_start(count, NULL);
	struct kill_plan plan = { threaded.pid, _i == 0 ? 1 : at[_i - 1] };
	struct mu_threads_hooks hooks = { kill_it, &plan };

	must_not_stop(threaded.pid, MU_ERR_TARGET_GONE, &hooks);
	ck_assert_int_eq(plan.countdown <= 0, 1);
	/* The exit status is the parent's, and it is not kept waiting. */
	ck_assert_int_eq(waitpid(threaded.pid, &status, 0), threaded.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(kill_while_stopped)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	int status;

	must_stop(threaded.pid);
	kill(threaded.pid, SIGKILL);
	while (threaded_state(threaded.pid, captured_threads.tracees[10].tid) ==
	    't')
		sched_yield();
	ck_assert_int_eq(mu_snapshot_live(&captured_snap, &captured_threads,
			     NULL, &captured_arena, &captured_why),
	    MU_ERR_TARGET_GONE);
	ck_assert_ptr_null(captured_snap.threads);
	mu_threads_release(&captured_threads);
	ck_assert_int_eq(waitpid(threaded.pid, &status, 0), threaded.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(no_process)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	/* A zombie, and then nothing. */
	while (threaded_state(pid, pid) != 'Z')
		sched_yield();
	must_not_stop(pid, MU_ERR_TARGET_GONE, NULL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	must_not_stop(pid, MU_ERR_TARGET_GONE, NULL);
}

static void
leave_by_pthread_exit(struct threaded_shared *shared)
{
	intptr_t i;

	(void)shared;
	for (i = 0; i <= 3; i++)
		threaded_spawn(threaded_answer_and_exit, (void *)i);
	pthread_exit(NULL);
}

TEST(zombie_leader)
{
	struct threaded_child threaded;
	size_t i;
	int round;

	/* The leader's place among the answers is a thread's. */
	threaded = threaded_start(3, leave_by_pthread_exit);
	while (threaded_state(threaded.pid, threaded.pid) != 'Z')
		sched_yield();
	for (round = 0; round < 3; round++) {
		must_stop(threaded.pid);
		ck_assert_uint_eq(captured_threads.count, 4);
		for (i = 0; i < captured_threads.count; i++)
			ck_assert_int_ne(
			    captured_threads.tracees[i].tid, threaded.pid);
		mu_threads_release(&captured_threads);
		threaded_is_unharmed(&threaded);
	}
	threaded_end(&threaded);
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
