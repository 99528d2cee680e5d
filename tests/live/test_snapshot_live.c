/*
 * What a snapshot of a live process holds: stack and thread pointers, words
 * that the victim has only in the kernel, its mappings.
 */
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

#include "tests/support/captured.h"
#include "tests/support/suite.h"

TEST(stack_and_thread_pointers)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	const struct mu_thread *thread;
	size_t i, k, map;

	take(threaded.pid);
	ck_assert_uint_eq(captured_snap.num_threads, 11);
	for (i = 0; i < 11; i++) {
		thread = &captured_snap.threads[i];
		for (map = 0; map < captured_snap.num_mappings; map++)
			if (mu_range_has(
				captured_snap.mappings[map].range, thread->sp))
				break;
		ck_assert_uint_lt(map, captured_snap.num_mappings);
		ck_assert(captured_snap.mappings[map].writable);
		if (thread->tid == threaded.pid)
			ck_assert_str_eq(
			    captured_snap.mappings[map].name, "[stack]");
		for (k = 0; k < i; k++) {
			ck_assert_uint_ne(
			    thread->sp, captured_snap.threads[k].sp);
			ck_assert_uint_ne(
			    thread->tp, captured_snap.threads[k].tp);
		}
		ck_assert_uint_eq(
		    occurrences(captured_snap.values + thread->first_value,
			thread->num_values, thread->sp) > 0,
		    1);
	}
	threaded_end(&threaded);
}

static void
give_to_epoll(struct threaded_shared *shared)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fds[2], epfd = epoll_create1(0);

	(void)shared;
	if (pipe(fds) != 0)
		_exit(4);
	event.data.ptr = (void *)(PLANT + 0x100);
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fds[0], &event) != 0)
		_exit(5);
}

TEST(Binder_epoll)
{
	struct threaded_child threaded = threaded_start(1, give_to_epoll);

	take(threaded.pid);
	ck_assert_uint_eq(occurrences(captured_snap.kernel_values,
			      captured_snap.num_kernel_values, PLANT + 0x100),
	    1);
	threaded_end(&threaded);
}

static void
give_and_leave(struct threaded_shared *shared)
{
	give_to_epoll(shared);
	threaded_spawn(threaded_answer_and_exit, NULL);
	pthread_exit(NULL);
}

/* A leader that has ended shows neither mappings nor descriptors. */
TEST(zombie_leader)
{
	struct threaded_child threaded = threaded_start(0, give_and_leave);

	while (threaded_state(threaded.pid, threaded.pid) != 'Z')
		sched_yield();
	take(threaded.pid);
	ck_assert_uint_eq(captured_snap.num_threads, 1);
	ck_assert_uint_gt(captured_snap.num_mappings, 5);
	ck_assert_uint_eq(occurrences(captured_snap.kernel_values,
			      captured_snap.num_kernel_values, PLANT + 0x100),
	    1);
	threaded_end(&threaded);
}

static void
give_to_timer(struct threaded_shared *shared)
{
	struct sigevent event;
	timer_t timer;

	(void)shared;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGRTMIN;
	event.sigev_value.sival_ptr = (void *)(PLANT + 0x200);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		_exit(6);
}

TEST(Binder_timer)
{
	struct threaded_child threaded;

	if (access("/proc/self/timers", R_OK) != 0) {
		printf("SKIPPED: /proc/PID/timers is not there"
		       " (CONFIG_CHECKPOINT_RESTORE)\n");
		return;
	}
	threaded = threaded_start(1, give_to_timer);
	take(threaded.pid);
	ck_assert_uint_eq(occurrences(captured_snap.kernel_values,
			      captured_snap.num_kernel_values, PLANT + 0x200),
	    1);
	threaded_end(&threaded);
}

/* What the requester put there stays, in front. */
TEST(adds_to_the_requesters)
{
	struct mu_thread requester = { .sp = 2, .num_values = 2 };
	uintptr_t values[] = { PLANT, PLANT + 1 };
	struct threaded_child threaded = threaded_start(3, NULL);

	requester.tid = threaded.pid;
	captured_snap.threads = &requester;
	captured_snap.num_threads = 1;
	captured_snap.values = values;
	captured_snap.num_values = 2;
	take(threaded.pid);
	ck_assert_uint_eq(captured_snap.num_threads, 5);
	ck_assert_uint_eq(captured_snap.threads[0].sp, 2);
	ck_assert_uint_eq(captured_snap.threads[1].first_value, 2);
	ck_assert_uint_eq(captured_snap.values[0], PLANT);
	ck_assert_uint_eq(captured_snap.values[1], PLANT + 1);
	threaded_end(&threaded);
}

/* One byte into PIPE from every image, and on to the next one. */
static void *
exec_again(void *pipe_fd)
{
	const char *fd = pipe_fd;

	(void)!write(atoi(fd), "", 1);
	execl("/proc/self/exe", "exec-again", fd, (char *)NULL);
	_exit(7);
}

static int
exec_for_ever(char *pipe_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	threaded_spawn(exec_again, pipe_fd);
	pause();
	return 8;
}

/*
 * A thread that is not the leader becomes the leader by execve(), which ends
 * all others, stopped or not.
 */
TEST(exec_during_stop)
{
	char fd[16], byte;
	int fds[2], round, status;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	snprintf(fd, sizeof(fd), "%d", fds[1]);
	pid = fork();
	if (pid == 0)
		execl("/proc/self/exe", "exec-again", fd, (char *)NULL);
	for (round = 0; round < 100; round++) {
		memset(&captured_snap, 0, sizeof(captured_snap));
		take(pid);
		ck_assert_uint_ge(captured_snap.num_threads, 1);
		ck_assert_uint_le(captured_snap.num_threads, 2);
		ck_assert_int_eq(read(fds[0], &byte, 1), 1);
		mu_arena_close(&captured_arena);
	}
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ck_assert(WIFSIGNALED(status));
	close(fds[0]);
	close(fds[1]);
}

static int
play(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[0], "exec-again") == 0)
		return exec_for_ever(argv[1]);
	return -1;
}

SUITE(.play = play, .setup = captured_setup, .teardown = captured_teardown);
