/*
 * The snapshot of a live process: stack and thread pointers, words that only
 * the kernel holds, mappings.
 */
#include <sys/epoll.h>

#include "tests/support/stop/captured.h"
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

/*
 * The /proc files of a leader that has ended show no mappings or descriptors.
 */
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

/* Values that the requester stored before stay in front. */
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

/* Write one byte to PIPE from every image, and execute the next one. */
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

/*
 * A snapshot of a live process holds words that a victim has only in a
 * register, of any size.
 */

static size_t
in_registers(uintptr_t word)
{
	return occurrences(
	    captured_snap.values, captured_snap.num_values, word);
}

/*
 * Each thread spins with PLANT + 0x10 * place in one register, and nowhere
 * else, until told to quit; it counts as created when the word is there. The
 * words come hidden from shared memory.
 */
static void *
hold_general(void *unused)
{
	uintptr_t word = ~threaded_shared->words[0];

	(void)unused;
#if defined(__x86_64__)
	__asm__ volatile(
	    "movq %0, %%rbx\n\t"
	    "xorl %k0, %k0\n\t"
	    "lock incl (%2)\n"
	    "1:\tpause\n\t"
	    "cmpl $0, (%1)\n\t"
	    "je 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "rbx", "memory");
#else
	__asm__ volatile(
	    "mov x19, %0\n\t"
	    "mov %0, xzr\n"
	    "2:\tldaxr w20, [%2]\n\t"
	    "add w20, w20, #1\n\t"
	    "stlxr w21, w20, [%2]\n\t"
	    "cbnz w21, 2b\n"
	    "1:\tldr w20, [%1]\n\t"
	    "cbz w20, 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "x19", "x20", "x21", "memory");
#endif
	return NULL;
}

static void *
hold_vector(void *unused)
{
	uintptr_t word = ~threaded_shared->words[1];

	(void)unused;
#if defined(__x86_64__)
	__asm__ volatile(
	    "movq %0, %%xmm7\n\t"
	    "pslldq $8, %%xmm7\n\t" /* the upper half */
	    "xorl %k0, %k0\n\t"
	    "lock incl (%2)\n"
	    "1:\tpause\n\t"
	    "cmpl $0, (%1)\n\t"
	    "je 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "xmm7", "memory");
#else
	__asm__ volatile(
	    "mov v8.d[1], %0\n\t"
	    "mov %0, xzr\n"
	    "2:\tldaxr w20, [%2]\n\t"
	    "add w20, w20, #1\n\t"
	    "stlxr w21, w20, [%2]\n\t"
	    "cbnz w21, 2b\n"
	    "1:\tldr w20, [%1]\n\t"
	    "cbz w20, 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "v8", "x20", "x21", "memory");
#endif
	return NULL;
}

#if defined(__x86_64__)
static __attribute__((target("avx"))) void *
hold_ymm(void *unused)
{
	uintptr_t word = ~threaded_shared->words[2];

	(void)unused;
	__asm__ volatile(
	    "vmovq %0, %%xmm9\n\t"
	    "vinsertf128 $1, %%xmm9, %%ymm9, %%ymm9\n\t"
	    "vpermilpd $0, %%ymm9, %%ymm9\n\t"
	    "xorl %k0, %k0\n\t"
	    "lock incl (%2)\n"
	    "1:\tpause\n\t"
	    "cmpl $0, (%1)\n\t"
	    "je 1b\n\t"
	    "vzeroupper\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "xmm9", "memory");
	return NULL;
}
#endif

static bool
has_avx(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx");
#else
	return false;
#endif
}

static void
plant_words(struct threaded_shared *shared)
{
	uintptr_t i;

	for (i = 0; i < 3; i++)
		shared->words[i] = ~(PLANT + 0x10 * i);
	threaded_spawn(hold_general, NULL);
	threaded_spawn(hold_vector, NULL);
#if defined(__x86_64__)
	if (has_avx())
		threaded_spawn(hold_ymm, NULL);
#endif
}

TEST(case_registers)
{
	struct threaded_child threaded = threaded_start(2, plant_words);

	threaded_await(&threaded.shared->created, has_avx() ? 3 : 2);
	take(threaded.pid);
	ck_assert_uint_eq(captured_snap.num_threads, has_avx() ? 6 : 5);
	ck_assert_uint_eq(in_registers(PLANT), 1);
	ck_assert_uint_eq(in_registers(PLANT + 0x10), 1);
	if (has_avx())
		/* Four lanes; the upper two only ymm can have. */
		ck_assert_uint_eq(in_registers(PLANT + 0x20), 4);
	else
		printf("SKIPPED: ymm registers, the CPU has none\n");
	threaded_end(&threaded);
}

/*
 * A snapshot that is taken by a tracer which shares the victim's memory, as the
 * collector does.
 */

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
	it->status = stop_threads(&captured_threads, it->pid, it->except,
	    &captured_arena, mu_sys_now_ns() + PATIENCE_NS, NULL,
	    &captured_why);
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
	ck_assert_msg(it.status == MU_OK, "%s", captured_why.text);
	ck_assert_msg(it.live_status == MU_OK, "%s", captured_why.text);
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

/* The requester is the only thread: nothing has to be stopped. */
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
	ck_assert_msg(it.status == MU_OK, "%s", captured_why.text);
	ck_assert_msg(it.live_status == MU_OK, "%s", captured_why.text);
	ck_assert_uint_eq(it.count, 0);
	ck_assert_uint_gt(captured_snap.num_mappings, 5);
}

/* The collector dies; the threads of its requester continue. */
static int
collect_and_die(void *arg)
{
	struct collector *it = arg;

	it->status = stop_threads(&captured_threads, it->pid, it->except,
	    &captured_arena, mu_sys_now_ns() + PATIENCE_NS, NULL,
	    &captured_why);
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

SUITE(.play = play, .setup = captured_setup, .teardown = captured_teardown);
