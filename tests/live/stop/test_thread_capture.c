/*
 * Stop all threads of a process, and release them unchanged. The test is the
 * tracer; its child is the victim, which is compared before and after each
 * capture.
 */
#include "ptrace/live/registers.h"
#include "tests/support/stop/captured.h"
#include "tests/support/stop/long_call.h"
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
		/* A thread of this process: the tids of others give ESRCH. */
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

#define SHORT_NS (20 * 1000 * 1000ull)

static void *
call_for_long(void *arg)
{
	threaded_shared->words[0] = (uintptr_t)syscall(SYS_gettid);
	while (!threaded_get(&threaded_shared->quit))
		ck_assert(long_call());
	return arg;
}

static void
be_in_long_calls(struct threaded_shared *shared)
{
	threaded_spawn(call_for_long, NULL);
	while (*(volatile uintptr_t *)&shared->words[0] == 0)
		usleep(100);
}

static pid_t late;

static void
must_run_unless_late(pid_t pid, pid_t tid)
{
	if (tid == late)
		must_be_in_trace_stop(pid, tid);
	else
		threaded_thread_is_free(pid, tid);
}

/* A tracer that ends, as it may have to leave a thread that never stopped. */
static void *
stop_in_vain(void *arg)
{
	pid_t pid = *(const pid_t *)arg;
	enum mu_status status;
	int tries = 100;

	do
		status =
		    stop_threads(&captured_threads, pid, 0, &captured_arena,
			mu_sys_now_ns() + SHORT_NS, NULL, &captured_why);
	while (captured_threads.late != late && --tries > 0);
	ck_assert_int_eq(status, MU_ERR_TIMEOUT);
	ck_assert_int_eq(captured_threads.late, late);
	return NULL;
}

/* All others run until the thread has stopped for which there was no time. */
TEST(thread_in_long_calls)
{
	struct threaded_child threaded = threaded_start(3, be_in_long_calls);
	enum mu_status status;
	pthread_t tracer;

	late = (pid_t)threaded.shared->words[0];
	pthread_create(&tracer, NULL, stop_in_vain, &threaded.pid);
	pthread_join(tracer, NULL);

	ck_assert_int_eq(mu_threads_prepare(&captured_threads, threaded.pid, 0,
			     &captured_arena, &captured_why),
	    MU_OK);
	mu_late_threads_add(&captured_threads.before, late);
	status = mu_threads_await_late(
	    &captured_threads, in_patience(), SHORT_NS, &captured_why);
	ck_assert_msg(status == MU_OK, "%s", captured_why.text);
	threaded_each(threaded.pid, must_run_unless_late);
	status = mu_threads_stop_listed(
	    &captured_threads, in_patience(), &captured_why);
	ck_assert_msg(status == MU_OK, "%s", captured_why.text);
	ck_assert_uint_eq(captured_threads.count, 5);
	threaded_each(threaded.pid, must_be_in_trace_stop);
	mu_threads_release(&captured_threads);
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
	ck_assert_msg(status == MU_OK, "%s", captured_why.text);
	ck_assert_uint_gt(n, 8);
	threaded_end(&threaded);
}

/*
 * A program that job control has stopped stays so after a capture, and
 * continues on SIGCONT.
 */

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

/*
 * Stopping the threads of a process that has ended or ends during the stop, or
 * whose leader has ended.
 */

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

/*
 * Signals for a program whose threads are being stopped: each is delivered,
 * once, when they are let go.
 */

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

/* Every thread has one of our signals, which is caught before its delivery. */
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
