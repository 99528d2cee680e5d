/*
 * A snapshot that is taken by a tracer which shares the victim's memory, as the
 * collector does.
 */
#include <errno.h>
#include <sched.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

/*
 * The collector: shares our memory and our TLS, is another process, stops all
 * of our threads but the one that waits for it.
 */
struct collector {
	pid_t pid, except;
	enum mu_status status, live_status;
	size_t count;
	int progress[2]; /* of a thread that never sleeps, while stopped */
	char stack[128 << 10] __attribute__((aligned(16)));
};

static int spins, stop_spinning;

static void *
spin(void *unused)
{
	while (!threaded_get(&stop_spinning))
		threaded_add(&spins, 1);
	return unused;
}

static int
collect(void *arg)
{
	struct collector *it = arg;
	mu_sigmask old;

	mu_sys_block_signals(&old);
	it->status = mu_threads_stop(&captured_threads, it->pid, it->except,
	    &captured_arena, mu_sys_now_ns() + PATIENCE_NS, &captured_why);
	it->progress[0] = threaded_get(&spins);
	it->live_status = mu_snapshot_live(&captured_snap, &captured_threads,
	    NULL, &captured_arena, &captured_why);
	if (it->live_status == MU_OK)
		it->live_status = mu_snapshot_mappings(
		    &captured_snap, &captured_arena, &captured_why);
	it->count = captured_threads.count;
	mu_sys_sleep_ns(MU_NS_PER_SEC / 100);
	it->progress[1] = threaded_get(&spins);
	mu_threads_release(&captured_threads);
	mu_sys_exit(0);
}

TEST(case_collector)
{
	static struct collector it;
	pthread_t spinners[4];
	int status, i, before;
	pid_t pid;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (i = 0; i < 4; i++)
		pthread_create(&spinners[i], NULL, spin, NULL);
	it.pid = it.except = getpid();
	errno = 4711;
	pid = clone(collect, it.stack + sizeof(it.stack),
	    CLONE_VM | CLONE_FS | CLONE_UNTRACED, &it);
	ck_assert_int_gt(pid, 0);
	while (mu_sys_wait(pid, &status, MU_WALL) == -EINTR)
		;
	ck_assert_int_eq(errno, 4711);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(it.status == MU_OK, "%s", captured_why.words);
	ck_assert_msg(it.live_status == MU_OK, "%s", captured_why.words);
	ck_assert_uint_eq(it.count, 4);
	ck_assert_uint_eq(captured_snap.num_threads, 4);
	ck_assert_int_eq(it.progress[0], it.progress[1]);
	threaded_each(getpid(), threaded_thread_is_free);
	before = threaded_get(&spins);
	threaded_await(&spins, before + 1000);
	threaded_set(&stop_spinning, 1);
	for (i = 0; i < 4; i++)
		pthread_join(spinners[i], NULL);
}

/* No thread but the requester: nothing to stop, and that is fine. */
TEST(collector_alone)
{
	static struct collector it;
	int status;
	pid_t pid;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	it.pid = it.except = getpid();
	pid = clone(collect, it.stack + sizeof(it.stack),
	    CLONE_VM | CLONE_FS | CLONE_UNTRACED, &it);
	ck_assert_int_gt(pid, 0);
	while (mu_sys_wait(pid, &status, MU_WALL) == -EINTR)
		;
	ck_assert_msg(it.status == MU_OK, "%s", captured_why.words);
	ck_assert_msg(it.live_status == MU_OK, "%s", captured_why.words);
	ck_assert_uint_eq(it.count, 0);
	ck_assert_uint_gt(captured_snap.num_mappings, 5);
}

/* The collector dies, its requester's threads do not. */
static int
collect_and_die(void *arg)
{
	struct collector *it = arg;

	it->status = mu_threads_stop(&captured_threads, it->pid, it->except,
	    &captured_arena, mu_sys_now_ns() + PATIENCE_NS, &captured_why);
	mu_sys_kill(mu_sys_getpid(), SIGKILL);
	return 0;
}

TEST(collector_is_killed)
{
	static struct collector it;
	pthread_t spinner;
	int status, before;
	pid_t pid;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pthread_create(&spinner, NULL, spin, NULL);
	it.pid = it.except = getpid();
	pid = clone(collect_and_die, it.stack + sizeof(it.stack),
	    CLONE_VM | CLONE_FS | CLONE_UNTRACED, &it);
	ck_assert_int_gt(pid, 0);
	while (mu_sys_wait(pid, &status, MU_WALL) == -EINTR)
		;
	ck_assert_int_eq(status, SIGKILL);
	ck_assert_int_eq(it.status, MU_OK);
	before = threaded_get(&spins);
	threaded_await(&spins, before + 1000);
	threaded_set(&stop_spinning, 1);
	pthread_join(spinner, NULL);
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
