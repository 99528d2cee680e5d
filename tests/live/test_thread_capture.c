/*
 * Stopping all threads of a process, and letting go without a trace. The test
 * is the tracer; its child is the victim. After each capture the victim must
 * be as if nothing had been.
 */
#include "ptrace/live/registers.h"
#include "tests/support/captured.h"
#include "tests/support/suite.h"

static const int thread_counts[] = { 1, 2, 10, 1024 };

static void
must_be_in_trace_stop(pid_t pid, pid_t tid)
{
	char state = threaded_state(pid, tid);

	ck_assert_msg(strchr("tZX", state) != NULL, /* also '\0', gone */
	    "thread %d is in state %c", tid, state);
}

static void
must_be_listed(pid_t pid, int count)
{
	pid_t *tids, last = 0;
	size_t n, i;

	ck_assert_int_eq(
	    mu_threads_list(pid, &tids, &n, &captured_arena, &captured_why),
	    MU_OK);
	ck_assert_uint_eq(n, (size_t)count);
	for (i = 0; i < n; i++) {
		ck_assert_int_gt(tids[i], last);
		last = tids[i];
		/* Of this process: the tids of others give ESRCH. */
		ck_assert_int_eq(mu_sys3(SYS_tgkill, pid, tids[i], 0), 0);
	}
}

TEST(list_one)
{
	pid_t *tids;
	size_t n;

	ck_assert_int_eq(mu_threads_list(getpid(), &tids, &n, &captured_arena,
			     &captured_why),
	    MU_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(tids[0], getpid());
}

TEST_LOOP(list_some, 0, 4)
{
	struct threaded_child threaded =
	    threaded_start(thread_counts[_i], NULL);

	must_be_listed(threaded.pid, thread_counts[_i] + 1);
	threaded_end(&threaded);
	ck_assert_int_eq(mu_threads_list(threaded.pid, &(pid_t *) { NULL },
			     &(size_t) { 0 }, &captured_arena, &captured_why),
	    MU_ERR_TARGET_GONE);
}

TEST_LOOP(capture_some, 0, 4)
{
	struct threaded_child threaded =
	    threaded_start(thread_counts[_i], NULL);
	size_t i, count = (size_t)thread_counts[_i] + 1;

	must_stop(threaded.pid);
	ck_assert_uint_eq(captured_threads.count, count);
	ck_assert_int_eq(
	    threaded_each(threaded.pid, must_be_in_trace_stop), (int)count);
	must_be_listed(threaded.pid, (int)count);
	ck_assert_int_eq(mu_snapshot_live(&captured_snap, &captured_threads,
			     NULL, &captured_arena, &captured_why),
	    MU_OK);
	ck_assert_uint_eq(captured_snap.num_threads, count);
	for (i = 0; i < count; i++) {
		ck_assert_int_eq(captured_snap.threads[i].tid,
		    captured_threads.tracees[i].tid);
		ck_assert(mu_word_plausible(captured_snap.threads[i].sp));
		ck_assert(mu_word_plausible(captured_snap.threads[i].tp));
		ck_assert_uint_gt(captured_snap.threads[i].num_values, 2);
	}
	mu_threads_release(&captured_threads);
	mu_threads_release(&captured_threads);
	threaded_end(&threaded);
}

TEST(release_nothing)
{
	struct mu_threads nothing = { 0 };

	mu_threads_release(&nothing);
}

/* The second and third time is like the first; nothing piles up. */
TEST(capture_again)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	int i;

	for (i = 0; i < 20; i++) {
		must_stop(threaded.pid);
		ck_assert_uint_eq(captured_threads.count, 11);
		ck_assert_uint_eq(captured_threads.rescans, 2);
		mu_threads_release(&captured_threads);
		threaded_is_unharmed(&threaded);
	}
	threaded_end(&threaded);
}

static void *
short_life(void *arg)
{
	(void)arg;
	threaded_add(&threaded_shared->created, 1);
	usleep(500); /* to be seen if it is not stopped */
	return NULL;
}

static void *
start_threads_for_ever(void *arg)
{
	(void)arg;
	while (!threaded_get(&threaded_shared->quit))
		threaded_spawn(short_life, NULL);
	return NULL;
}

static void
churn(struct threaded_shared *shared)
{
	(void)shared;
	threaded_spawn(start_threads_for_ever, NULL);
	threaded_spawn(start_threads_for_ever, NULL);
}

TEST(thread_churn)
{
	struct threaded_child threaded = threaded_start(3, churn);
	int round, created;

	for (round = 0; round < 50; round++) {
		memset(&captured_snap, 0, sizeof(captured_snap));
		must_stop(threaded.pid);
		/* 4 that answer and 2 that create. */
		ck_assert_uint_ge(captured_threads.count, 6);
		threaded_each(threaded.pid, must_be_in_trace_stop);
		created = threaded_get(&threaded.shared->created);
		ck_assert_int_eq(
		    mu_snapshot_live(&captured_snap, &captured_threads, NULL,
			&captured_arena, &captured_why),
		    MU_OK);
		ck_assert_uint_eq(
		    captured_snap.num_threads, captured_threads.count);
		ck_assert_int_eq(
		    threaded_get(&threaded.shared->created), created);
		mu_threads_release(&captured_threads);
		mu_arena_close(&captured_arena);
		threaded_await(&threaded.shared->created, created + 20);
	}
	threaded_end(&threaded);
}

TEST(no_memory)
{
	struct threaded_child threaded = threaded_start(100, NULL);
	enum mu_status status = MU_ERR_NO_MEMORY;
	size_t n;

	for (n = 1; n < 1000 && status == MU_ERR_NO_MEMORY; n++) {
		captured_arena.fail_at = n;
		status = stop_hooked(threaded.pid, NULL);
		if (status == MU_OK)
			status =
			    mu_snapshot_live(&captured_snap, &captured_threads,
				NULL, &captured_arena, &captured_why);
		mu_threads_release(&captured_threads);
		threaded_each(threaded.pid, threaded_thread_is_free);
	}
	ck_assert_msg(status == MU_OK, "%s", captured_why.words);
	ck_assert_uint_gt(n, 8);
	threaded_end(&threaded);
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
