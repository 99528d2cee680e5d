/*
 * Signals for a program whose threads are being stopped: each is delivered,
 * once, when they are let go.
 */
#include <sched.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

static void
send_usr1(void *ctx, pid_t tid)
{
	syscall(SYS_tgkill, *(pid_t *)ctx, tid, SIGUSR1);
}

/* Returns only when the thread has stopped before the delivery. */
static void
send_usr1_and_await_stop(void *ctx, pid_t tid)
{
	send_usr1(ctx, tid);
	while (threaded_state(*(pid_t *)ctx, tid) != 't')
		sched_yield();
}

TEST(capture_signal)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	struct mu_threads_hooks hooks = { send_usr1, &threaded.pid };

	ck_assert_int_eq(stop_hooked(threaded.pid, &hooks), MU_OK);
	ck_assert_uint_eq(captured_threads.count, 11);
	ck_assert_int_eq(threaded_get(&threaded.shared->signals[SIGUSR1]), 0);
	mu_threads_release(&captured_threads);
	threaded_await(&threaded.shared->signals[SIGUSR1], 11);
	threaded_is_unharmed(&threaded);
	ck_assert_int_eq(threaded.shared->signals[SIGUSR1], 11);
	threaded_end(&threaded);
}

TEST(reported_signal_is_passed_on)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	struct mu_threads_hooks hooks = { send_usr1_and_await_stop,
		&threaded.pid };
	size_t i;

	ck_assert_int_eq(stop_hooked(threaded.pid, &hooks), MU_OK);
	ck_assert_uint_eq(captured_threads.count, 11);
	for (i = 0; i < captured_threads.count; i++) {
		ck_assert_int_eq(captured_threads.tracees[i].state,
		    MU_TRACEE_SIGNAL_STOPPED);
		ck_assert_int_eq(captured_threads.tracees[i].signal, SIGUSR1);
	}
	mu_threads_release(&captured_threads);
	threaded_await(&threaded.shared->signals[SIGUSR1], 11);
	threaded_is_unharmed(&threaded);
	ck_assert_int_eq(threaded.shared->signals[SIGUSR1], 11);
	threaded_end(&threaded);
}

/* Queue real-time signals to the process and to its threads, until told. */
static pid_t
start_sender(struct threaded_child *threaded)
{
	struct threaded_shared *shared = threaded->shared;
	pid_t pid = fork(), *tids;
	siginfo_t info;
	size_t n, i;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mu_threads_list(threaded->pid, &tids, &n, &captured_arena, NULL) !=
	    MU_OK)
		_exit(1);
	for (i = 0; !threaded_get(&shared->created); i++) {
		memset(&info, 0, sizeof(info));
		info.si_code = SI_QUEUE;
		if (syscall(SYS_rt_sigqueueinfo, threaded->pid, SIGRTMIN,
			&info) == 0)
			threaded_add(&shared->sent[SIGRTMIN], 1);
		if (syscall(SYS_rt_tgsigqueueinfo, threaded->pid, tids[i % n],
			SIGRTMIN + 1, &info) == 0)
			threaded_add(&shared->sent[SIGRTMIN + 1], 1);
		/* The queue is bounded (EAGAIN); the child must get its turn.
		 */
		if (i % 16 == 15)
			usleep(200);
	}
	_exit(0);
}

/* One of ours to every thread, and it is caught before its delivery. */
static void
queue_and_await_stop(void *ctx, pid_t tid)
{
	struct threaded_child *threaded = ctx;
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	while (syscall(SYS_rt_tgsigqueueinfo, threaded->pid, tid, SIGRTMIN + 2,
		   &info) != 0)
		usleep(1000);
	threaded_add(&threaded->shared->sent[SIGRTMIN + 2], 1);
	while (threaded_state(threaded->pid, tid) != 't')
		sched_yield();
}

TEST(signal_storm)
{
	struct threaded_child threaded = threaded_start(8, NULL);
	struct mu_threads_hooks hooks = { queue_and_await_stop, &threaded };
	pid_t sender = start_sender(&threaded);
	int captures, status, k;
	size_t i;

	for (captures = 0; captures < 100; captures++) {
		ck_assert_int_eq(stop_hooked(threaded.pid, &hooks), MU_OK);
		for (i = 0; i < captured_threads.count; i++)
			ck_assert_int_ge(
			    captured_threads.tracees[i].signal, SIGRTMIN);
		mu_threads_release(&captured_threads);
	}
	threaded_set(&threaded.shared->created, 1);
	waitpid(sender, &status, 0);
	ck_assert_int_eq(status, 0);
	for (k = SIGRTMIN; k <= SIGRTMIN + 2; k++)
		threaded_await(
		    &threaded.shared->signals[k], threaded.shared->sent[k]);
	threaded_is_unharmed(&threaded);
	for (k = SIGRTMIN; k <= SIGRTMIN + 2; k++)
		ck_assert_int_eq(
		    threaded.shared->signals[k], threaded.shared->sent[k]);
	threaded_end(&threaded);
}

static void
ignore(int signo)
{
	(void)signo;
}

/* The tracer's own SIGCHLD settings come back, whatever they were. */
TEST_LOOP(own_sigchld, 0, 3)
{
	struct sigaction action, after;
	struct threaded_child threaded = threaded_start(3, NULL);
	sigset_t mask;

	memset(&action, 0, sizeof(action));
	action.sa_handler = _i == 0 ? SIG_IGN : _i == 1 ? SIG_DFL : ignore;
	action.sa_flags = _i == 2 ? SA_NOCLDSTOP | SA_RESTART : 0;
	sigaction(SIGCHLD, &action, NULL);
	must_stop(threaded.pid);
	ck_assert_uint_eq(captured_threads.count, 4);
	mu_threads_release(&captured_threads);
	sigaction(SIGCHLD, NULL, &after);
	ck_assert_ptr_eq(after.sa_handler, action.sa_handler);
	ck_assert_int_eq(
	    after.sa_flags & SA_NOCLDSTOP, action.sa_flags & SA_NOCLDSTOP);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	ck_assert_int_eq(sigismember(&mask, SIGCHLD), 0);
	signal(SIGCHLD, SIG_DFL);
	threaded_end(&threaded);
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
