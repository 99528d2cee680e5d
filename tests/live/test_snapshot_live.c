/*
 * What a snapshot of a live process holds: words that a victim has only in a
 * register, or only in the kernel; its mappings; and all of this also when the
 * tracer shares the victim's memory, as the collector does.
 */
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

#include "mu/sys.h"
#include "ptrace/snapshot_live.h"
#include "ptrace/threads.h"
#include "tests/support/herd.h"
#include "tests/support/suite.h"

#define PATIENCE_NS (60 * MU_NS_PER_SEC)
#define PLANT ((uintptr_t)0x7abc12345000) /* + 0x10 a place */

static struct mu_arena arena;
static struct mu_threads threads;
static struct mu_snapshot snap;
static struct mu_why why;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 30);
	memset(&snap, 0, sizeof(snap));
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

static void
take(pid_t pid)
{
	enum mu_status status = mu_threads_stop(
	    &threads, pid, 0, &arena, mu_sys_now_ns() + PATIENCE_NS, &why);

	ck_assert_msg(status == MU_OK, "%s", why.words);
	status = mu_snapshot_live(&snap, &threads, &arena, &why);
	mu_threads_release(&threads);
	ck_assert_msg(status == MU_OK, "%s", why.words);
}

static size_t
occurrences(const uintptr_t *words, size_t count, uintptr_t word)
{
	size_t i, found = 0;

	for (i = 0; i < count; i++)
		found += words[i] == word;
	return found;
}

static size_t
in_registers(uintptr_t word)
{
	return occurrences(snap.values, snap.num_values, word);
}

/*
 * Each spins with PLANT + 0x10 * place in one register, and nowhere else,
 * until told to quit. The words come hidden from shared memory.
 */
static void *
hold_general(void *unused)
{
	uintptr_t word = ~herd_shared->words[0];

	(void)unused;
	herd_add(&herd_shared->created, 1);
#if defined(__x86_64__)
	__asm__ volatile("movq %0, %%rbx\n\t"
			 "xorl %k0, %k0\n"
			 "1:\tpause\n\t"
			 "cmpl $0, (%1)\n\t"
			 "je 1b\n\t"
			 : "+r"(word)
			 : "r"(&herd_shared->quit)
			 : "rbx", "memory");
#else
	__asm__ volatile("mov x19, %0\n\t"
			 "mov %0, xzr\n"
			 "1:\tldr w20, [%1]\n\t"
			 "cbz w20, 1b\n\t"
			 : "+r"(word)
			 : "r"(&herd_shared->quit)
			 : "x19", "x20", "memory");
#endif
	return NULL;
}

static void *
hold_vector(void *unused)
{
	uintptr_t word = ~herd_shared->words[1];

	(void)unused;
	herd_add(&herd_shared->created, 1);
#if defined(__x86_64__)
	__asm__ volatile("movq %0, %%xmm7\n\t"
			 "pslldq $8, %%xmm7\n\t" /* the upper half */
			 "xorl %k0, %k0\n"
			 "1:\tpause\n\t"
			 "cmpl $0, (%1)\n\t"
			 "je 1b\n\t"
			 : "+r"(word)
			 : "r"(&herd_shared->quit)
			 : "xmm7", "memory");
#else
	__asm__ volatile("mov v8.d[1], %0\n\t"
			 "mov %0, xzr\n"
			 "1:\tldr w20, [%1]\n\t"
			 "cbz w20, 1b\n\t"
			 : "+r"(word)
			 : "r"(&herd_shared->quit)
			 : "v8", "x20", "memory");
#endif
	return NULL;
}

#if defined(__x86_64__)
static __attribute__((target("avx"))) void *
hold_ymm(void *unused)
{
	uintptr_t word = ~herd_shared->words[2];

	(void)unused;
	herd_add(&herd_shared->created, 1);
	__asm__ volatile("vmovq %0, %%xmm9\n\t"
			 "vinsertf128 $1, %%xmm9, %%ymm9, %%ymm9\n\t"
			 "vpermilpd $0, %%ymm9, %%ymm9\n\t"
			 "xorl %k0, %k0\n"
			 "1:\tpause\n\t"
			 "cmpl $0, (%1)\n\t"
			 "je 1b\n\t"
			 "vzeroupper\n\t"
			 : "+r"(word)
			 : "r"(&herd_shared->quit)
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
plant_words(struct herd_shared *shared)
{
	uintptr_t i;

	for (i = 0; i < 3; i++)
		shared->words[i] = ~(PLANT + 0x10 * i);
	herd_spawn(hold_general, NULL);
	herd_spawn(hold_vector, NULL);
#if defined(__x86_64__)
	if (has_avx())
		herd_spawn(hold_ymm, NULL);
#endif
}

START_TEST(mu55_registers)
{
	struct herd herd = herd_start(2, plant_words);

	herd_await(&herd.shared->created, has_avx() ? 3 : 2);
	usleep(20000); /* from the counting to the spinning */
	take(herd.pid);
	ck_assert_uint_eq(snap.num_threads, has_avx() ? 6 : 5);
	ck_assert_uint_eq(in_registers(PLANT), 1);
	ck_assert_uint_eq(in_registers(PLANT + 0x10), 1);
	if (has_avx())
		/* Four lanes; the upper two only ymm can have. */
		ck_assert_uint_eq(in_registers(PLANT + 0x20), 4);
	else
		printf("SKIPPED: ymm registers, the CPU has none\n");
	herd_end(&herd);
}
END_TEST

START_TEST(stack_and_thread_pointers)
{
	struct herd herd = herd_start(10, NULL);
	const struct mu_thread *thread;
	size_t i, k, map;

	take(herd.pid);
	ck_assert_uint_eq(snap.num_threads, 11);
	for (i = 0; i < 11; i++) {
		thread = &snap.threads[i];
		for (map = 0; map < snap.num_mappings; map++)
			if (mu_range_has(snap.mappings[map].range, thread->sp))
				break;
		ck_assert_uint_lt(map, snap.num_mappings);
		ck_assert(snap.mappings[map].writable);
		if (thread->tid == herd.pid)
			ck_assert_str_eq(snap.mappings[map].name, "[stack]");
		for (k = 0; k < i; k++) {
			ck_assert_uint_ne(thread->sp, snap.threads[k].sp);
			ck_assert_uint_ne(thread->tp, snap.threads[k].tp);
		}
		ck_assert_uint_eq(occurrences(snap.values + thread->first_value,
				      thread->num_values, thread->sp) > 0,
		    1);
	}
	herd_end(&herd);
}
END_TEST

static void
give_to_epoll(struct herd_shared *shared)
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

START_TEST(Binder_epoll)
{
	struct herd herd = herd_start(1, give_to_epoll);

	take(herd.pid);
	ck_assert_uint_eq(occurrences(snap.kernel_values,
			      snap.num_kernel_values, PLANT + 0x100),
	    1);
	herd_end(&herd);
}
END_TEST

static void *
answer_and_exit(void *index)
{
	herd_answer(index);
	_exit(0);
}

static void
give_and_leave(struct herd_shared *shared)
{
	give_to_epoll(shared);
	herd_spawn(answer_and_exit, NULL);
	pthread_exit(NULL);
}

/* A leader that has ended shows neither mappings nor descriptors. */
START_TEST(mu51_zombie_leader)
{
	struct herd herd = herd_start(0, give_and_leave);

	while (herd_state(herd.pid, herd.pid) != 'Z')
		sched_yield();
	take(herd.pid);
	ck_assert_uint_eq(snap.num_threads, 1);
	ck_assert_uint_gt(snap.num_mappings, 5);
	ck_assert_uint_eq(occurrences(snap.kernel_values,
			      snap.num_kernel_values, PLANT + 0x100),
	    1);
	herd_end(&herd);
}
END_TEST

static void
give_to_timer(struct herd_shared *shared)
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

START_TEST(Binder_timer)
{
	struct herd herd;

	if (access("/proc/self/timers", R_OK) != 0) {
		printf("SKIPPED: /proc/PID/timers is not there"
		       " (CONFIG_CHECKPOINT_RESTORE)\n");
		return;
	}
	herd = herd_start(1, give_to_timer);
	take(herd.pid);
	ck_assert_uint_eq(occurrences(snap.kernel_values,
			      snap.num_kernel_values, PLANT + 0x200),
	    1);
	herd_end(&herd);
}
END_TEST

/* What the requester put there stays, in front. */
START_TEST(adds_to_the_requesters)
{
	struct mu_thread requester = { .sp = 2, .num_values = 2 };
	uintptr_t values[] = { PLANT, PLANT + 1 };
	struct herd herd = herd_start(3, NULL);

	requester.tid = herd.pid;
	snap.threads = &requester;
	snap.num_threads = 1;
	snap.values = values;
	snap.num_values = 2;
	take(herd.pid);
	ck_assert_uint_eq(snap.num_threads, 5);
	ck_assert_uint_eq(snap.threads[0].sp, 2);
	ck_assert_uint_eq(snap.threads[1].first_value, 2);
	ck_assert_uint_eq(snap.values[0], PLANT);
	ck_assert_uint_eq(snap.values[1], PLANT + 1);
	herd_end(&herd);
}
END_TEST

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
	while (!herd_get(&stop_spinning))
		herd_add(&spins, 1);
	return unused;
}

static int
collect(void *arg)
{
	struct collector *it = arg;
	mu_sigmask old;

	mu_sys_block_signals(&old);
	it->status = mu_threads_stop(&threads, it->pid, it->except, &arena,
	    mu_sys_now_ns() + PATIENCE_NS, &why);
	it->progress[0] = herd_get(&spins);
	it->live_status = mu_snapshot_live(&snap, &threads, &arena, &why);
	it->count = threads.count;
	mu_sys_sleep_ns(MU_NS_PER_SEC / 100);
	it->progress[1] = herd_get(&spins);
	mu_threads_release(&threads);
	mu_sys_exit(0);
}

START_TEST(mu28_collector)
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
	ck_assert_msg(it.status == MU_OK, "%s", why.words);
	ck_assert_msg(it.live_status == MU_OK, "%s", why.words);
	ck_assert_uint_eq(it.count, 4);
	ck_assert_uint_eq(snap.num_threads, 4);
	ck_assert_int_eq(it.progress[0], it.progress[1]);
	herd_each(getpid(), herd_thread_is_free);
	before = herd_get(&spins);
	herd_await(&spins, before + 1000);
	herd_set(&stop_spinning, 1);
	for (i = 0; i < 4; i++)
		pthread_join(spinners[i], NULL);
}
END_TEST

/* No thread but the requester: nothing to stop, and that is fine. */
START_TEST(mu28_collector_alone)
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
	ck_assert_msg(it.status == MU_OK, "%s", why.words);
	ck_assert_msg(it.live_status == MU_OK, "%s", why.words);
	ck_assert_uint_eq(it.count, 0);
	ck_assert_uint_gt(snap.num_mappings, 5);
}
END_TEST

/* The collector dies, its requester's threads do not. */
static int
collect_and_die(void *arg)
{
	struct collector *it = arg;

	it->status = mu_threads_stop(&threads, it->pid, it->except, &arena,
	    mu_sys_now_ns() + PATIENCE_NS, &why);
	mu_sys_kill(mu_sys_getpid(), SIGKILL);
	return 0;
}

START_TEST(collector_is_killed)
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
	before = herd_get(&spins);
	herd_await(&spins, before + 1000);
	herd_set(&stop_spinning, 1);
	pthread_join(spinner, NULL);
}
END_TEST

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
	herd_spawn(exec_again, pipe_fd);
	pause();
	return 8;
}

/*
 * A thread that is not the leader becomes the leader by execve(), which ends
 * all others, stopped or not.
 */
START_TEST(exec_meanwhile)
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
		memset(&snap, 0, sizeof(snap));
		take(pid);
		ck_assert_uint_ge(snap.num_threads, 1);
		ck_assert_uint_le(snap.num_threads, 2);
		ck_assert_int_eq(read(fds[0], &byte, 1), 1);
		mu_arena_close(&arena);
	}
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ck_assert(WIFSIGNALED(status));
	close(fds[0]);
	close(fds[1]);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("snapshot_live");
	TCase *tc = tcase_create("snapshot_live");

	if (argc == 2 && strcmp(argv[0], "exec-again") == 0)
		return exec_for_ever(argv[1]);
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, mu55_registers);
	tcase_add_test(tc, stack_and_thread_pointers);
	tcase_add_test(tc, Binder_epoll);
	tcase_add_test(tc, Binder_timer);
	tcase_add_test(tc, mu51_zombie_leader);
	tcase_add_test(tc, adds_to_the_requesters);
	tcase_add_test(tc, mu28_collector);
	tcase_add_test(tc, mu28_collector_alone);
	tcase_add_test(tc, collector_is_killed);
	tcase_add_test(tc, exec_meanwhile);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
