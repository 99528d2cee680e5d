/*
 * Threads that cannot be stopped: one that a debugger has, one that waits in
 * vfork(). The others are let go again.
 */
#include <sys/ptrace.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

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

int
main(void)
{
	Suite *suite = suite_create("ThreadCapture");
	TCase *tc = captured_case("thread_capture_refused");

	tcase_add_loop_test(tc, already_traced, 0, 2);
	tcase_add_test(tc, deadline);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
