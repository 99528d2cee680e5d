/*
 * Threads that cannot be stopped: one that a debugger has, one that waits in
 * vfork(). The others are let go again.
 */
#include <sys/ptrace.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

/* A debugger: a separate process that seizes TID and waits. */
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

TEST_LOOP(already_traced, 0, 2)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	pid_t *tids, tracer;
	char words[64];
	size_t n;

	ck_assert_int_eq(mu_threads_list(threaded.pid, &tids, &n,
			     &captured_arena, &captured_why),
	    MU_OK);
	/* The leader, or one thread in the middle: the others are let go. */
	tracer = start_tracer(tids[_i == 0 ? 0 : 5]);
	must_not_stop(threaded.pid, MU_ERR_ALREADY_TRACED, NULL);
	snprintf(words, sizeof(words), "traced by %d (a debugger)", tracer);
	ck_assert_msg(strstr(captured_why.words, words) != NULL, "%s",
	    captured_why.words);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	threaded_end(&threaded);
}

/* A parent in vfork() cannot be stopped; our end frees it all the same. */
static void *
vfork_until_quit(void *arg)
{
	(void)arg;
	if (vfork() == 0) {
		threaded_set(&threaded_shared->created, (int)getpid());
		while (!threaded_get(&threaded_shared->sent[0]))
			usleep(1000);
		_exit(0);
	}
	threaded_set(&threaded_shared->sent[1], 1);
	return NULL;
}

static void
have_a_vfork(struct threaded_shared *shared)
{
	(void)shared;
	threaded_spawn(vfork_until_quit, NULL);
}

TEST(deadline)
{
	struct threaded_child threaded = threaded_start(3, have_a_vfork);
	pid_t tracer;
	int status;

	threaded_await(&threaded.shared->created, 1);
	tracer = fork();
	if (tracer == 0) {
		status = mu_threads_stop(&captured_threads, threaded.pid, 0,
		    &captured_arena, mu_sys_now_ns() + MU_NS_PER_SEC / 10,
		    &captured_why);
		_exit(status == MU_ERR_TIMEOUT && captured_threads.count == 0
			? 0
			: 1);
	}
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert_int_eq(status, 0);
	threaded_is_unharmed(&threaded);
	threaded_set(&threaded.shared->sent[0], 1);
	threaded_await(&threaded.shared->sent[1], 1);
	must_stop(threaded.pid);
	mu_threads_release(&captured_threads);
	threaded_end(&threaded);
}

#define STOP_NS (MU_NS_PER_SEC / 10)
#define HELD_NS (MU_NS_PER_SEC / 4) /* the release waits for 200 ms */

struct ticking {
	_Atomic uint64_t longest_ns; /* between two ticks */
	_Atomic bool ticks;
};

static struct ticking *ticking;

static void *
tick(void *arg)
{
	uint64_t last = mu_sys_now_ns(), now;

	for (;; last = now) {
		usleep(1000);
		now = mu_sys_now_ns();
		if (now - last > ticking->longest_ns)
			ticking->longest_ns = now - last;
		ticking->ticks = true;
	}
	return arg;
}

/* Its first thread is in vfork(), the other one ticks. */
static _Noreturn void
tick_behind_a_vfork(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, tick, NULL);
	if (vfork() == 0)
		for (;;)
			usleep(1000);
	_exit(1);
}

static bool
times_out(pid_t pid)
{
	int status;
	pid_t tracer = fork();

	if (tracer == 0) {
		status = mu_threads_stop(&captured_threads, pid, 0,
		    &captured_arena, mu_sys_now_ns() + STOP_NS, &captured_why);
		_exit(status == MU_ERR_TIMEOUT ? 0 : 1);
	}
	return waitpid(tracer, &status, 0) == tracer && status == 0;
}

/* Who has stopped does not wait for who has not. */
TEST(let_go_in_any_order)
{
	uint64_t least_ns = UINT64_MAX;
	char path[64], child[32] = "";
	pid_t pid;
	int i, fd;

	ticking = mmap(NULL, sizeof(*ticking), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0)
		tick_behind_a_vfork();
	while (!ticking->ticks || threaded_state(pid, pid) != 'D')
		usleep(1000);
	for (i = 0; i < 10; i++) {
		ticking->longest_ns = 0;
		ck_assert(times_out(pid));
		if (ticking->longest_ns < least_ns)
			least_ns = ticking->longest_ns;
	}
	ck_assert_uint_lt(least_ns, HELD_NS);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY);
	ck_assert_int_gt(read(fd, child, sizeof(child) - 1), 0);
	close(fd);
	kill(pid, SIGKILL);
	kill(atoi(child), SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(ticking, sizeof(*ticking));
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
