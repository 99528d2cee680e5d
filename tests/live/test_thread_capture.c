/*
 * Stopping all threads of a process, and letting go without a trace. The test
 * is the tracer; its child is the victim. After each capture the victim must
 * be as if nothing had been.
 */
#include <errno.h>
#include <sched.h>
#include <sys/ptrace.h>

#include "mu/sys.h"
#include "ptrace/registers.h"
#include "ptrace/snapshot_live.h"
#include "ptrace/threads.h"
#include "tests/support/herd.h"
#include "tests/support/suite.h"

#define PATIENCE_NS (60 * MU_NS_PER_SEC)

static const int thread_counts[] = { 1, 2, 10, 1024 };

static struct mu_arena arena;
static struct mu_threads threads;
static struct mu_why why;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 30);
	memset(&why, 0, sizeof(why));
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

static enum mu_status
stop_hooked(pid_t pid, const struct mu_threads_hooks *hooks)
{
	return mu_threads_stop_hooked(&threads, pid, 0, &arena,
	    mu_sys_now_ns() + PATIENCE_NS, hooks, &why);
}

static void
must_stop(pid_t pid)
{
	enum mu_status status = stop_hooked(pid, NULL);

	ck_assert_msg(
	    status == MU_OK, "%s: %s", mu_status_name(status), why.words);
}

static void
must_be_in_trace_stop(pid_t pid, pid_t tid)
{
	char state = herd_state(pid, tid);

	ck_assert_msg(strchr("tZX", state) != NULL, /* also '\0', gone */
	    "thread %d is in state %c", tid, state);
}

static void
must_be_listed(pid_t pid, int count)
{
	pid_t *tids, last = 0;
	size_t n, i;

	ck_assert_int_eq(mu_threads_list(pid, &tids, &n, &arena, &why), MU_OK);
	ck_assert_uint_eq(n, (size_t)count);
	for (i = 0; i < n; i++) {
		ck_assert_int_gt(tids[i], last);
		last = tids[i];
		/* Of this process: the tids of others give ESRCH. */
		ck_assert_int_eq(mu_sys3(SYS_tgkill, pid, tids[i], 0), 0);
	}
}

START_TEST(list_one)
{
	pid_t *tids;
	size_t n;

	ck_assert_int_eq(
	    mu_threads_list(getpid(), &tids, &n, &arena, &why), MU_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(tids[0], getpid());
}
END_TEST

START_TEST(list_some)
{
	struct herd herd = herd_start(thread_counts[_i], NULL);

	must_be_listed(herd.pid, thread_counts[_i] + 1);
	herd_end(&herd);
	ck_assert_int_eq(mu_threads_list(herd.pid, &(pid_t *) { NULL },
			     &(size_t) { 0 }, &arena, &why),
	    MU_ERR_TARGET_GONE);
}
END_TEST

START_TEST(capture_some)
{
	struct herd herd = herd_start(thread_counts[_i], NULL);
	struct mu_snapshot snap = { .pid = 0 };
	size_t i, count = (size_t)thread_counts[_i] + 1;

	must_stop(herd.pid);
	ck_assert_uint_eq(threads.count, count);
	ck_assert_int_eq(
	    herd_each(herd.pid, must_be_in_trace_stop), (int)count);
	must_be_listed(herd.pid, (int)count);
	ck_assert_int_eq(
	    mu_snapshot_live(&snap, &threads, &arena, &why), MU_OK);
	ck_assert_uint_eq(snap.num_threads, count);
	for (i = 0; i < count; i++) {
		ck_assert_int_eq(snap.threads[i].tid, threads.tracees[i].tid);
		ck_assert(mu_word_plausible(snap.threads[i].sp));
		ck_assert(mu_word_plausible(snap.threads[i].tp));
		ck_assert_uint_gt(snap.threads[i].num_values, 2);
	}
	mu_threads_release(&threads);
	mu_threads_release(&threads);
	herd_end(&herd);
}
END_TEST

START_TEST(release_nothing)
{
	struct mu_threads nothing = { 0 };

	mu_threads_release(&nothing);
}
END_TEST

/* The second and third time is like the first; nothing piles up. */
START_TEST(capture_again)
{
	struct herd herd = herd_start(10, NULL);
	int i;

	for (i = 0; i < 20; i++) {
		must_stop(herd.pid);
		ck_assert_uint_eq(threads.count, 11);
		ck_assert_uint_eq(threads.rescans, 2);
		mu_threads_release(&threads);
		herd_is_unharmed(&herd);
	}
	herd_end(&herd);
}
END_TEST

static void
must_not_stop(
    pid_t pid, enum mu_status expected, const struct mu_threads_hooks *hooks)
{
	enum mu_status status = stop_hooked(pid, hooks);

	ck_assert_msg(
	    status == expected, "%s: %s", mu_status_name(status), why.words);
	ck_assert(why.words[0] != '\0');
	ck_assert_uint_eq(threads.count, 0);
	mu_threads_release(&threads);
}

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

/* MU-52; the kill at the first thread, in the middle, and at the last. */
START_TEST(capture_kill)
{
	static const int at[] = { 1, 6, 11 };
	int count = _i == 0 ? 0 : 10, status;
	struct herd herd = herd_start(count, NULL);
	struct kill_plan plan = { herd.pid, _i == 0 ? 1 : at[_i - 1] };
	struct mu_threads_hooks hooks = { kill_it, &plan };

	must_not_stop(herd.pid, MU_ERR_TARGET_GONE, &hooks);
	ck_assert_int_eq(plan.countdown <= 0, 1);
	/* The exit status is the parent's, and it is not kept waiting. */
	ck_assert_int_eq(waitpid(herd.pid, &status, 0), herd.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(kill_while_stopped)
{
	struct herd herd = herd_start(10, NULL);
	struct mu_snapshot snap = { .pid = 0 };
	int status;

	must_stop(herd.pid);
	kill(herd.pid, SIGKILL);
	while (herd_state(herd.pid, threads.tracees[10].tid) == 't')
		sched_yield();
	ck_assert_int_eq(mu_snapshot_live(&snap, &threads, &arena, &why),
	    MU_ERR_TARGET_GONE);
	ck_assert_ptr_null(snap.threads);
	mu_threads_release(&threads);
	ck_assert_int_eq(waitpid(herd.pid, &status, 0), herd.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(nobody_there)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	/* A zombie, and then nothing. */
	while (herd_state(pid, pid) != 'Z')
		sched_yield();
	must_not_stop(pid, MU_ERR_TARGET_GONE, NULL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	must_not_stop(pid, MU_ERR_TARGET_GONE, NULL);
}
END_TEST

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
	while (herd_state(*(pid_t *)ctx, tid) != 't')
		sched_yield();
}

START_TEST(capture_signal)
{
	struct herd herd = herd_start(10, NULL);
	struct mu_threads_hooks hooks = { send_usr1, &herd.pid };

	ck_assert_int_eq(stop_hooked(herd.pid, &hooks), MU_OK);
	ck_assert_uint_eq(threads.count, 11);
	ck_assert_int_eq(herd_get(&herd.shared->signals[SIGUSR1]), 0);
	mu_threads_release(&threads);
	herd_await(&herd.shared->signals[SIGUSR1], 11);
	herd_is_unharmed(&herd);
	ck_assert_int_eq(herd.shared->signals[SIGUSR1], 11);
	herd_end(&herd);
}
END_TEST

START_TEST(mu50_reported_signal_is_passed_on)
{
	struct herd herd = herd_start(10, NULL);
	struct mu_threads_hooks hooks = { send_usr1_and_await_stop, &herd.pid };
	size_t i;

	ck_assert_int_eq(stop_hooked(herd.pid, &hooks), MU_OK);
	ck_assert_uint_eq(threads.count, 11);
	for (i = 0; i < threads.count; i++) {
		ck_assert_int_eq(
		    threads.tracees[i].state, MU_TRACEE_SIGNAL_STOPPED);
		ck_assert_int_eq(threads.tracees[i].signal, SIGUSR1);
	}
	mu_threads_release(&threads);
	herd_await(&herd.shared->signals[SIGUSR1], 11);
	herd_is_unharmed(&herd);
	ck_assert_int_eq(herd.shared->signals[SIGUSR1], 11);
	herd_end(&herd);
}
END_TEST

/* Queue real-time signals to the process and to its threads, until told. */
static pid_t
start_sender(struct herd *herd)
{
	struct herd_shared *shared = herd->shared;
	pid_t pid = fork(), *tids;
	siginfo_t info;
	size_t n, i;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mu_threads_list(herd->pid, &tids, &n, &arena, NULL) != MU_OK)
		_exit(1);
	for (i = 0; !herd_get(&shared->created); i++) {
		memset(&info, 0, sizeof(info));
		info.si_code = SI_QUEUE;
		if (syscall(SYS_rt_sigqueueinfo, herd->pid, SIGRTMIN, &info) ==
		    0)
			herd_add(&shared->sent[SIGRTMIN], 1);
		if (syscall(SYS_rt_tgsigqueueinfo, herd->pid, tids[i % n],
			SIGRTMIN + 1, &info) == 0)
			herd_add(&shared->sent[SIGRTMIN + 1], 1);
		/* The queue is bounded (EAGAIN); the herd must get its turn. */
		if (i % 16 == 15)
			usleep(200);
	}
	_exit(0);
}

/* One of ours to every thread, and it is caught before its delivery. */
static void
queue_and_await_stop(void *ctx, pid_t tid)
{
	struct herd *herd = ctx;
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	while (syscall(SYS_rt_tgsigqueueinfo, herd->pid, tid, SIGRTMIN + 2,
		   &info) != 0)
		usleep(1000);
	herd_add(&herd->shared->sent[SIGRTMIN + 2], 1);
	while (herd_state(herd->pid, tid) != 't')
		sched_yield();
}

START_TEST(mu50_signal_storm)
{
	struct herd herd = herd_start(8, NULL);
	struct mu_threads_hooks hooks = { queue_and_await_stop, &herd };
	pid_t sender = start_sender(&herd);
	int captures, status, k;
	size_t i;

	for (captures = 0; captures < 100; captures++) {
		ck_assert_int_eq(stop_hooked(herd.pid, &hooks), MU_OK);
		for (i = 0; i < threads.count; i++)
			ck_assert_int_ge(threads.tracees[i].signal, SIGRTMIN);
		mu_threads_release(&threads);
	}
	herd_set(&herd.shared->created, 1);
	waitpid(sender, &status, 0);
	ck_assert_int_eq(status, 0);
	for (k = SIGRTMIN; k <= SIGRTMIN + 2; k++)
		herd_await(&herd.shared->signals[k], herd.shared->sent[k]);
	herd_is_unharmed(&herd);
	for (k = SIGRTMIN; k <= SIGRTMIN + 2; k++)
		ck_assert_int_eq(herd.shared->signals[k], herd.shared->sent[k]);
	herd_end(&herd);
}
END_TEST

/* Not by returning: the last thread to end would run exit handlers. */
static void *
answer_and_exit(void *index)
{
	herd_answer(index);
	_exit(0);
}

static void
leave_by_pthread_exit(struct herd_shared *shared)
{
	intptr_t i;

	(void)shared;
	for (i = 0; i <= 3; i++)
		herd_spawn(answer_and_exit, (void *)i);
	pthread_exit(NULL);
}

START_TEST(mu51_zombie_leader)
{
	struct herd herd;
	size_t i;
	int round;

	/* The leader's place among the answers is a thread's. */
	herd = herd_start(3, leave_by_pthread_exit);
	while (herd_state(herd.pid, herd.pid) != 'Z')
		sched_yield();
	for (round = 0; round < 3; round++) {
		must_stop(herd.pid);
		ck_assert_uint_eq(threads.count, 4);
		for (i = 0; i < threads.count; i++)
			ck_assert_int_ne(threads.tracees[i].tid, herd.pid);
		mu_threads_release(&threads);
		herd_is_unharmed(&herd);
	}
	herd_end(&herd);
}
END_TEST

/*
 * The kernel wakes a group-stopped thread at the detach, and it stops again
 * before it gets anywhere: state R shows for a moment.
 */
static void
must_be_in_group_stop(pid_t pid, pid_t tid)
{
	int i;

	for (i = 0; i < HERD_PATIENCE && herd_state(pid, tid) != 'T'; i++)
		usleep(1000);
	ck_assert_int_eq(herd_state(pid, tid), 'T');
}

/* Stopped as before, not traced, and nobody answers. */
static void
must_sleep_on(struct herd *herd)
{
	char tracer[64];
	int i;

	ck_assert_int_eq(
	    herd_each(herd->pid, must_be_in_group_stop), herd->threads + 1);
	herd_status(herd->pid, herd->pid, "TracerPid:", tracer, sizeof(tracer));
	ck_assert_int_eq(atoi(tracer), 0);
	herd_call(herd);
	usleep(20000); /* long enough to start running by mistake */
	for (i = 0; i <= herd->threads; i++)
		ck_assert_int_lt(
		    herd_get(&herd->shared->answers[i]), herd->shared->call);
	ck_assert_int_eq(
	    herd_each(herd->pid, must_be_in_group_stop), herd->threads + 1);
}

START_TEST(mu54_group_stop)
{
	static const int signals[] = { SIGSTOP, SIGTSTP };
	struct herd herd = herd_start(10, NULL);
	int status, round;
	size_t i;

	for (round = 0; round < 4; round++) {
		kill(herd.pid, signals[round % 2]);
		waitpid(herd.pid, &status, WUNTRACED);
		ck_assert(WIFSTOPPED(status));
		must_stop(herd.pid);
		ck_assert_uint_eq(threads.count, 11);
		for (i = 0; i < threads.count; i++)
			ck_assert_int_eq(
			    threads.tracees[i].state, MU_TRACEE_GROUP_STOPPED);
		mu_threads_release(&threads);
		must_sleep_on(&herd);
		kill(herd.pid, SIGCONT);
		waitpid(herd.pid, &status, WCONTINUED);
		ck_assert(WIFCONTINUED(status));
		herd_is_unharmed(&herd);
	}
	herd_end(&herd);
}
END_TEST

static void
send_stop_to_leader(void *ctx, pid_t tid)
{
	pid_t pid = *(pid_t *)ctx;

	if (tid != pid)
		return;
	syscall(SYS_tgkill, pid, tid, SIGTSTP);
	while (herd_state(pid, pid) != 't')
		sched_yield();
}

/* A stop signal that is caught on its way stops the program afterwards. */
START_TEST(mu54_stop_signal_in_delivery)
{
	struct herd herd = herd_start(3, NULL);
	struct mu_threads_hooks hooks = { send_stop_to_leader, &herd.pid };
	int status;
	size_t i;

	ck_assert_int_eq(stop_hooked(herd.pid, &hooks), MU_OK);
	/* Tids may have wrapped around: the leader need not be the first. */
	for (i = 0; threads.tracees[i].tid != herd.pid; i++)
		ck_assert_uint_lt(i, threads.count);
	ck_assert_int_eq(threads.tracees[i].state, MU_TRACEE_SIGNAL_STOPPED);
	ck_assert_int_eq(threads.tracees[i].signal, SIGTSTP);
	mu_threads_release(&threads);
	ck_assert_int_eq(waitpid(herd.pid, &status, WUNTRACED), herd.pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
	must_sleep_on(&herd);
	kill(herd.pid, SIGCONT);
	waitpid(herd.pid, &status, WCONTINUED);
	herd_end(&herd);
}
END_TEST

static void *
short_life(void *arg)
{
	(void)arg;
	herd_add(&herd_shared->created, 1);
	usleep(500); /* to be seen if it is not stopped */
	return NULL;
}

static void *
start_threads_for_ever(void *arg)
{
	(void)arg;
	while (!herd_get(&herd_shared->quit))
		herd_spawn(short_life, NULL);
	return NULL;
}

static void
churn(struct herd_shared *shared)
{
	(void)shared;
	herd_spawn(start_threads_for_ever, NULL);
	herd_spawn(start_threads_for_ever, NULL);
}

START_TEST(thread_churn)
{
	struct herd herd = herd_start(3, churn);
	struct mu_snapshot snap;
	int round, created;

	for (round = 0; round < 50; round++) {
		snap = (struct mu_snapshot) { .pid = 0 };
		must_stop(herd.pid);
		/* 4 that answer and 2 that create. */
		ck_assert_uint_ge(threads.count, 6);
		herd_each(herd.pid, must_be_in_trace_stop);
		created = herd_get(&herd.shared->created);
		ck_assert_int_eq(
		    mu_snapshot_live(&snap, &threads, &arena, &why), MU_OK);
		ck_assert_uint_eq(snap.num_threads, threads.count);
		ck_assert_int_eq(herd_get(&herd.shared->created), created);
		mu_threads_release(&threads);
		mu_arena_close(&arena);
		herd_await(&herd.shared->created, created + 20);
	}
	herd_end(&herd);
}
END_TEST

/* A debugger: a process of its own that seizes TID and waits. */
static pid_t
start_tracer(pid_t tid)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a debugger");
		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
			(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

START_TEST(already_traced)
{
	struct herd herd = herd_start(10, NULL);
	pid_t *tids, tracer;
	char words[64];
	size_t n;

	ck_assert_int_eq(
	    mu_threads_list(herd.pid, &tids, &n, &arena, &why), MU_OK);
	/* The leader, or one thread in the middle: the others are let go. */
	tracer = start_tracer(tids[_i == 0 ? 0 : 5]);
	must_not_stop(herd.pid, MU_ERR_ALREADY_TRACED, NULL);
	snprintf(words, sizeof(words), "traced by %d (a debugger)", tracer);
	ck_assert_msg(strstr(why.words, words) != NULL, "%s", why.words);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	herd_end(&herd);
}
END_TEST

/* A parent in vfork() cannot be stopped; our end frees it all the same. */
static void *
vfork_until_quit(void *arg)
{
	(void)arg;
	if (vfork() == 0) {
		herd_set(&herd_shared->created, (int)getpid());
		while (!herd_get(&herd_shared->sent[0]))
			usleep(1000);
		_exit(0);
	}
	herd_set(&herd_shared->sent[1], 1);
	return NULL;
}

static void
have_a_vfork(struct herd_shared *shared)
{
	(void)shared;
	herd_spawn(vfork_until_quit, NULL);
}

START_TEST(deadline)
{
	struct herd herd = herd_start(3, have_a_vfork);
	pid_t tracer;
	int status;

	herd_await(&herd.shared->created, 1);
	tracer = fork();
	if (tracer == 0) {
		status = mu_threads_stop(&threads, herd.pid, 0, &arena,
		    mu_sys_now_ns() + MU_NS_PER_SEC / 10, &why);
		_exit(status == MU_ERR_TIMEOUT && threads.count == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert_int_eq(status, 0);
	herd_is_unharmed(&herd);
	herd_set(&herd.shared->sent[0], 1);
	herd_await(&herd.shared->sent[1], 1);
	must_stop(herd.pid);
	mu_threads_release(&threads);
	herd_end(&herd);
}
END_TEST

START_TEST(no_memory)
{
	struct herd herd = herd_start(100, NULL);
	struct mu_snapshot snap = { .pid = 0 };
	enum mu_status status = MU_ERR_NO_MEMORY;
	size_t n;

	for (n = 1; n < 1000 && status == MU_ERR_NO_MEMORY; n++) {
		arena.fail_at = n;
		status = stop_hooked(herd.pid, NULL);
		if (status == MU_OK)
			status =
			    mu_snapshot_live(&snap, &threads, &arena, &why);
		mu_threads_release(&threads);
		herd_each(herd.pid, herd_thread_is_free);
	}
	ck_assert_msg(status == MU_OK, "%s", why.words);
	ck_assert_uint_gt(n, 8);
	herd_end(&herd);
}
END_TEST

static void
ignore(int signo)
{
	(void)signo;
}

/* The tracer's own SIGCHLD settings come back, whatever they were. */
START_TEST(own_sigchld)
{
	struct sigaction action, after;
	struct herd herd = herd_start(3, NULL);
	sigset_t mask;

	memset(&action, 0, sizeof(action));
	action.sa_handler = _i == 0 ? SIG_IGN : _i == 1 ? SIG_DFL : ignore;
	action.sa_flags = _i == 2 ? SA_NOCLDSTOP | SA_RESTART : 0;
	sigaction(SIGCHLD, &action, NULL);
	must_stop(herd.pid);
	ck_assert_uint_eq(threads.count, 4);
	mu_threads_release(&threads);
	sigaction(SIGCHLD, NULL, &after);
	ck_assert_ptr_eq(after.sa_handler, action.sa_handler);
	ck_assert_int_eq(
	    after.sa_flags & SA_NOCLDSTOP, action.sa_flags & SA_NOCLDSTOP);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	ck_assert_int_eq(sigismember(&mask, SIGCHLD), 0);
	signal(SIGCHLD, SIG_DFL);
	herd_end(&herd);
}
END_TEST

static Suite *
capture_suite(void)
{
	Suite *suite = suite_create("ThreadCapture");
	TCase *tc = tcase_create("ThreadCapture");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, list_one);
	tcase_add_loop_test(tc, list_some, 0, 4);
	tcase_add_loop_test(tc, capture_some, 0, 4);
	tcase_add_loop_test(tc, capture_kill, 0, 4);
	tcase_add_test(tc, capture_signal);
	tcase_add_test(tc, release_nothing);
	tcase_add_test(tc, capture_again);
	tcase_add_test(tc, kill_while_stopped);
	tcase_add_test(tc, nobody_there);
	tcase_add_test(tc, mu50_reported_signal_is_passed_on);
	tcase_add_test(tc, mu50_signal_storm);
	tcase_add_test(tc, mu51_zombie_leader);
	tcase_add_test(tc, mu54_group_stop);
	tcase_add_test(tc, mu54_stop_signal_in_delivery);
	tcase_add_test(tc, thread_churn);
	tcase_add_loop_test(tc, already_traced, 0, 2);
	tcase_add_test(tc, deadline);
	tcase_add_test(tc, no_memory);
	tcase_add_loop_test(tc, own_sigchld, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return suite_run(capture_suite());
}
