/*
 * The limit of a stop (--max-pause): work that would hold the threads longer is
 * not begun, or is given up, and the answer says so.
 */
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/check/check.h"
#include "tests/support/clock.h"
#include "tests/support/hide.h"
#include "tests/support/stop/long_call.h"
#include "tests/support/stop/target_process.h"
#include "tests/support/stop/threaded_child.h"
#include "tests/support/suite.h"

#define MS (1000 * 1000ull)
#define BIG ((size_t)600 << 20)
#define MIDDLING ((size_t)60 << 20)
#define NUM_HELD 100
#define NUM_MAPPINGS 60000
#define LOST_SIZE 4000
#define HELD_SIZE 6000
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */

/* Shared with the process that is looked at. */
struct shared {
	_Atomic bool ready;
	_Atomic uint64_t longest_ns; /* that a thread of it did not run */
	_Atomic bool cannot;
	_Atomic uint64_t call_ns; /* duration of its longest system call */
	_Atomic int confined, returned; /* of the threads with filters */
};

static struct shared *shared;
static pid_t target;

static void *
tick(void *arg)
{
	uint64_t last = now_ns(), now;

	(void)arg;
	for (;;) {
		nap_ms(1);
		now = now_ns();
		if (shared->ready && now - last > shared->longest_ns)
			shared->longest_ns = now - last;
		last = now;
	}
	return NULL;
}

/*
 * Uninterruptible sleep: until the child executes a program, or ends. Only the
 * frame of this function refers to one block.
 */
static void
be_in_vfork(void)
{
	struct timespec nap = { 60, 0 };
	void *volatile held = calloc(1, HELD_SIZE);

	shared->ready = true;
	if (vfork() == 0) {
		syscall(SYS_prctl, 1 /* PR_SET_PDEATHSIG */, SIGKILL);
		syscall(SYS_nanosleep, &nap, NULL);
		_exit(0);
	}
	free(held);
}

/*
 * All of the thread's stack counts, as its stack pointer is not known. Malloc
 * leaves the address of the next block's chunk there, which is in the last word
 * of the one before: another block comes between.
 */
static __attribute__((noinline)) void
lose(void)
{
	void *volatile lost = calloc(1, LOST_SIZE);

	lost = malloc(64);
	free(lost);
	lost = NULL;
}

static void
lose_in_vfork(void)
{
	lose();
	scrub_stack();
	be_in_vfork();
}

/*
 * Sleep almost always, for MILLISECONDS at a time, as a thread that waits for a
 * disk does.
 */
static void
be_in_vforks(long milliseconds)
{
	struct timespec nap = { 0, milliseconds * 1000000 };
	pid_t child;

	shared->ready = true;
	for (;;) {
		child = vfork();
		if (child == 0) {
			syscall(SYS_nanosleep, &nap, NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void
be_in_short_vforks(void)
{
	be_in_vforks(20);
}

static void
be_in_long_vforks(void)
{
	be_in_vforks(150);
}

static void
be_big(void)
{
	char *memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, 1, BIG);
	shared->ready = true;
}

/*
 * Memory that a fork leaves out or empties, and that alone refers to blocks;
 * one block is lost.
 */
static void
be_left_out(size_t size, int advice)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *volatile lost;
	size_t i;

	memset(memory, 1, size);
	madvise(memory, size, advice);
	for (i = 0; i < NUM_HELD; i++) {
		void **slot = (void **)(memory + size / NUM_HELD * i / 64 * 64);

		*slot = calloc(1, 200);
	}
	lost = calloc(1, LOST_SIZE);
	lost = NULL;
	(void)lost;
	shared->ready = true;
}

static void
be_middling(void)
{
	be_left_out(MIDDLING, MADV_DONTFORK);
}

static void
be_emptied(void)
{
	be_left_out(MIDDLING, MADV_WIPEONFORK);
}

static void
be_big_and_left_out(void)
{
	be_left_out(BIG, MADV_DONTFORK);
}

/* A fork waits until the thread that reads events has read of it. */
static void
be_monitored(void)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_EVENT_FORK,
	};
	struct uffd_msg message;
	struct uffdio_register range;
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	range = (struct uffdio_register) {
		.range = { (uintptr_t)memory, 65536 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	shared->cannot = fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0;
	shared->ready = true;
	while (!shared->cannot && read(fd, &message, sizeof(message)) > 0)
		continue;
}

/* Calls that no signal ends and that use a CPU. */
static void
be_in_long_calls(void)
{
	char *memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t begin;

	for (;;) {
		begin = now_ns();
		shared->cannot = madvise(memory, BIG, POPULATE_WRITE) != 0;
		if (now_ns() - begin > shared->call_ns)
			shared->call_ns = now_ns() - begin;
		shared->ready = true;
		madvise(memory, BIG, MADV_DONTNEED);
	}
}

/* Their list alone takes longer to read than the stop may last. */
static void
be_of_many_mappings(void)
{
	long page = sysconf(_SC_PAGESIZE), i;
	char *memory = mmap(NULL, (size_t)(page * NUM_MAPPINGS), PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (i = 0; i < NUM_MAPPINGS && !shared->cannot; i += 2)
		shared->cannot =
		    mprotect(memory + i * page, (size_t)page, PROT_READ) != 0;
	shared->ready = true;
}

/* The same, one after the other. */
static void
be_in_endless_calls(void)
{
	shared->ready = true;
	while (long_call())
		continue;
	shared->cannot = true;
}

/* For the calling thread: any call but NR kills the process. */
static void
permit_only(int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		shared->cannot = true;
	shared->confined++;
}

#ifndef SYS_poll
#define SYS_poll SYS_ppoll /* aarch64 */
#endif

/* The kernel restarts each of these by restart_syscall(). */
enum wait {
	SLEEP,
	POLL,
	FUTEX,
	NUM_ENDLESS, /* these do not return */
	SHORT_SLEEP = NUM_ENDLESS,
	SHORT_POLL,
	SHORT_FUTEX,
	NUM_WAITS
};

static void *
wait_confined(void *arg)
{
	enum wait wait = (enum wait)(intptr_t)arg;
	struct timespec time = { 1000, 0 };
	struct pollfd none = { -1, 0, 0 };
	int word = 0;

	if (wait == FUTEX)
		clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += 1000;
	permit_only(wait == SLEEP || wait == SHORT_SLEEP ? SYS_nanosleep
		: wait == POLL || wait == SHORT_POLL     ? SYS_poll
							 : SYS_futex);
	for (;;) {
		if (wait == SLEEP)
			syscall(SYS_nanosleep, &time, &time);
		if (wait == POLL)
			syscall(SYS_poll, &none, 1, -1);
		if (wait == FUTEX)
			syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &time,
			    NULL, FUTEX_BITSET_MATCH_ANY);
		shared->returned += wait < NUM_ENDLESS;
		if (wait == SHORT_SLEEP)
			syscall(SYS_nanosleep, &time, NULL);
		if (wait == SHORT_POLL)
			syscall(SYS_poll, &none, 1, 1000000);
		if (wait == SHORT_FUTEX)
			syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time);
	}
	return NULL;
}

static void
be_confined(void)
{
	pthread_t thread;
	intptr_t i;

	for (i = 0; i < NUM_WAITS; i++)
		pthread_create(&thread, NULL, wait_confined, (void *)i);
	while (shared->confined < NUM_WAITS)
		nap_ms(1);
	shared->ready = true;
}

static void (*const plays[])(void) = { be_in_vfork, be_big, be_monitored,
	be_middling, be_emptied, be_big_and_left_out, be_in_short_vforks,
	be_in_long_vforks, be_in_long_calls, be_in_endless_calls, be_confined,
	lose_in_vfork, be_in_vfork, be_of_many_mappings };

enum play {
	IN_VFORK,
	BIG_ONE,
	MONITORED,
	MIDDLING_ONE,
	EMPTIED,
	BIG_LEFT_OUT,
	SHORT_VFORKS,
	LONG_VFORKS,
	LONG_CALLS,
	ENDLESS_CALLS,
	CONFINED,
	LOSS_IN_VFORK,
	ALONE_IN_VFORK,
	MANY_MAPPINGS
};

/* A separate program: this one, with "PLAY FD" on its command line. */
static _Noreturn void
run_target(char **argv)
{
	pthread_t thread;

	shared = target_memory(atoi(argv[2]), sizeof(*shared));
	if (atoi(argv[1]) != ENDLESS_CALLS && atoi(argv[1]) != ALONE_IN_VFORK)
		pthread_create(&thread, NULL, tick, NULL);
	plays[atoi(argv[1])]();
	for (;;)
		pause();
}

static void
start(enum play play)
{
	bool in_vfork =
	    play == IN_VFORK || play == LOSS_IN_VFORK || play == ALONE_IN_VFORK;

	shared = target_start(play, sizeof(*shared), &target);
	while (!shared->ready ||
	    (in_vfork && threaded_state(target, target) != 'D'))
		nap_ms(1);
	nap_ms(50);
}

static void
end(void)
{
	target_end(target);
	munmap(shared, sizeof(*shared));
}

static enum mu_status
look(struct mu_report *answer, enum mu_check_stop stop, uint64_t max_pause_ms)
{
	struct mu_check check = {
		.pid = target,
		.stop = stop,
		.timeout_ns =
		    stop == MU_CHECK_STOP_AUTO ? 60000 * MS : 6000 * MS,
		.max_pause_ns = max_pause_ms * MS,
		.limit = 10,
	};

	return mu_check_process(&check, answer);
}

static void
expect_unchecked(enum mu_check_stop stop, uint64_t max_pause_ms,
    const char *words, uint64_t longest_ms)
{
	struct mu_report answer;

	shared->longest_ns = 0;
	ck_assert_int_eq(look(&answer, stop, max_pause_ms), MU_ERR_TIMEOUT);
	ck_assert_msg(strstr(answer.info.reason, words) != NULL, "%s",
	    answer.info.reason);
	mu_check_release(&answer);
	ck_assert_msg(shared->longest_ns < longest_ms * MS, "%lu ms",
	    (unsigned long)(shared->longest_ns / MS));
}

/* No other thread could be stopped. _i: auto, fork, read */
TEST_LOOP(all_threads_in_vfork, 0, 3)
{
	start(ALONE_IN_VFORK);
	expect_unchecked(
	    (enum mu_check_stop)_i, 200, "uninterruptible sleep", 3000);
	end();
}

/* The thread is left out: nothing is lost, or the answer is partial. */
TEST_LOOP(thread_in_vfork, 0, 6)
{
	bool loses = _i >= 3;
	struct mu_report answer;
	enum mu_status status;

	start(loses ? LOSS_IN_VFORK : IN_VFORK);
	status = look(&answer, (enum mu_check_stop)(_i % 3), 2000);
	ck_assert_msg(status == (loses ? MU_PARTIAL : MU_OK), "%d: %s", status,
	    answer.info.reason);
	ck_assert_uint_eq(answer.info.num_leaks, loses);
	ck_assert_uint_eq(answer.info.num_threads, 2);
	if (loses) {
		ck_assert_ptr_nonnull(
		    strstr(answer.info.reason, "uninterruptible sleep"));
		ck_assert_uint_ge(answer.info.leak_bytes, LOST_SIZE);
		ck_assert_uint_lt(answer.info.leak_bytes, HELD_SIZE);
	}
	mu_check_release(&answer);
	end();
}

/* _i: auto, fork, read. A child of vfork() shares the memory: partial. */
TEST_LOOP(thread_in_short_sleeps, 0, 3)
{
	struct mu_report answer;
	enum mu_status status;
	int i;

	start(SHORT_VFORKS);
	for (i = 0; i < 5; i++) {
		status = look(&answer, (enum mu_check_stop)_i, 2000);
		ck_assert_msg(status == MU_OK || status == MU_PARTIAL, "%d: %s",
		    status, answer.info.reason);
		mu_check_release(&answer);
	}
	end();
}

/*
 * A thread that does not stop in time is waited for when the others run again:
 * that is not part of the pause.
 */
TEST_LOOP(pause_ends_with_the_release, 1, 3)
{
	struct mu_report answer;
	int i;

	start(LONG_VFORKS);
	for (i = 0; i < 5; i++) {
		shared->longest_ns = 0;
		look(&answer, (enum mu_check_stop)_i, 5);
		ck_assert_msg(
		    answer.info.pause_ns < shared->longest_ns + 20 * MS,
		    "%lu ms, of %lu seen",
		    (unsigned long)(answer.info.pause_ns / MS),
		    (unsigned long)(shared->longest_ns / MS));
		mu_check_release(&answer);
	}
	end();
}

/*
 * _i: with one CPU; with all. The thread is lent a priority so that it stops
 * sooner, but must not keep the keeper from ending the stop in time.
 */
TEST_LOOP(thread_in_a_long_call, 0, 2)
{
	struct mu_report answer;
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (_i == 0)
		ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	start(LONG_CALLS);
	for (i = 0; i < 5 && !shared->cannot; i++) {
		look(&answer, MU_CHECK_STOP_FORK, 20);
		ck_assert_msg(
		    answer.info.pause_ns < 20 * MS + shared->call_ns / 8,
		    "%lu ms, of a call of %lu",
		    (unsigned long)(answer.info.pause_ns / MS),
		    (unsigned long)(shared->call_ns / MS));
		mu_check_release(&answer);
	}
	if (shared->cannot)
		printf("SKIPPED: no MADV_POPULATE_WRITE\n");
	end();
}

/*
 * _i: auto, fork, read. The first stop has no time for it; the next one begins
 * when a call has ended. There is no other thread: on a busy machine it could
 * be late, too.
 */
TEST_LOOP(thread_in_endless_calls, 0, 3)
{
	struct mu_check check = {
		.stop = (enum mu_check_stop)_i,
		.timeout_ns = 200000 * MS,
		.max_pause_ns = 100 * MS,
	};
	struct mu_report answer;
	enum mu_status status;
	char words[32];
	int tries = 10;

	start(ENDLESS_CALLS);
	check.pid = target;
	snprintf(words, sizeof(words), "thread %d of process", target);
	do {
		status = mu_check_process(&check, &answer);
		ck_assert_msg(strstr(answer.info.reason, words) == NULL, "%s",
		    answer.info.reason);
		mu_check_release(&answer);
	} while (status == MU_ERR_TIMEOUT && --tries > 0);
	ck_assert_int_eq(status, MU_OK);
	ck_assert(!shared->cannot);
	end();
}

/* A stop must not lead to a call for which a filter of the program kills. */
TEST(thread_in_a_call_of_its_filter)
{
	struct mu_report answer;
	int i;

	start(CONFINED);
	for (i = 0; i < 6; i++) {
		look(&answer, (enum mu_check_stop)(i % 3), i == 3 ? 1 : 10000);
		ck_assert_msg(kill(target, 0) == 0 &&
			threaded_state(target, target) != 'Z',
		    "killed by look %d", i);
		mu_check_release(&answer);
	}
	if (shared->cannot)
		printf("SKIPPED: no seccomp filters here\n");
	ck_assert_int_eq(shared->returned, 0);
	end();
}

/* It is known before the stop that there is too much. */
TEST(too_much_to_read)
{
	struct mu_report answer;

	start(BIG_ONE);
	expect_unchecked(MU_CHECK_STOP_READ, 50, "--max-pause=3s", 3000);
	ck_assert_int_eq(look(&answer, MU_CHECK_STOP_READ, 60000), MU_OK);
	ck_assert_str_eq(answer.stop, "read");
	mu_check_release(&answer);
	ck_assert_int_eq(look(&answer, MU_CHECK_STOP_AUTO, 10000), MU_OK);
	ck_assert_str_eq(answer.stop, "fork");
	mu_check_release(&answer);
	end();
}

static uint64_t
time_of_list(void)
{
	char path[32], buffer[65536];
	uint64_t begin = now_ns();
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", target);
	file = fopen(path, "r");
	while (file != NULL && fread(buffer, 1, sizeof(buffer), file) > 0)
		continue;
	ck_assert_ptr_nonnull(file);
	fclose(file);
	return now_ns() - begin;
}

/* One look in which the keeper gets a CPU shows it. */
TEST(list_of_mappings_is_read_within_the_pause)
{
	uint64_t list_ns = UINT64_MAX, pause_ns = UINT64_MAX, ns;
	struct mu_report answer;
	int i;

	start(MANY_MAPPINGS);
	ck_assert(!shared->cannot);
	for (i = 0; i < 20; i++) {
		ns = time_of_list();
		list_ns = ns < list_ns ? ns : list_ns;
		look(&answer, MU_CHECK_STOP_READ, 5);
		ns = answer.info.pause_ns;
		pause_ns = ns < pause_ns ? ns : pause_ns;
		mu_check_release(&answer);
	}
	ck_assert_msg(pause_ns < 5 * MS + list_ns / 2,
	    "%lu us, and the list alone takes %lu",
	    (unsigned long)(pause_ns / 1000), (unsigned long)(list_ns / 1000));
	end();
}

TEST(no_time_at_all)
{
	start(BIG_ONE);
	shared->longest_ns = 0;
	expect_unchecked(MU_CHECK_STOP_FORK, 0 + 1, "--max-pause=1s", 3000);
	end();
}

TEST(fork_waits_for_a_monitor)
{
	struct mu_report answer;

	start(MONITORED);
	if (shared->cannot) {
		printf("SKIPPED: no userfaultfd (errno %d)\n", errno);
		end();
		return;
	}
	shared->longest_ns = 0;
	ck_assert_int_eq(look(&answer, MU_CHECK_STOP_AUTO, 2000), MU_OK);
	ck_assert_str_eq(answer.stop, "read");
	mu_check_release(&answer);
	ck_assert_int_eq(look(&answer, MU_CHECK_STOP_FORK, 2000), MU_ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(answer.info.reason, "userfaultfd"));
	mu_check_release(&answer);
	ck_assert_uint_lt(shared->longest_ns, 3000 * MS);
	end();
}

/* The answer comes from a copy and has the one lost block. */
static void
expect_lost(enum mu_status status, uint64_t max_pause_ms)
{
	struct mu_report answer;
	enum mu_status got;
	int tries = 5;

	do
		got = look(&answer, MU_CHECK_STOP_AUTO, max_pause_ms);
	while (got == MU_ERR_TIMEOUT && --tries > 0);
	ck_assert_msg(got == status, "%d: %s", got, answer.info.reason);
	ck_assert_str_eq(answer.stop, "fork");
	ck_assert_uint_eq(answer.info.num_leaks, 1);
	ck_assert_uint_ge(answer.info.leak_bytes, LOST_SIZE);
	mu_check_release(&answer);
}

/* Little enough to be read while the copy is made. */
TEST_LOOP(left_out_of_a_copy, 0, 2)
{
	start(_i == 0 ? MIDDLING_ONE : EMPTIED);
	expect_lost(MU_OK, 2000);
	end();
}

static void
dawdle(void *ctx, enum mu_check_step step)
{
	(void)ctx;
	if (step == MU_CHECK_STEP_STOP)
		nap_ms(300);
}

/* Whenever the time ends: a complete answer knows what was emptied. */
TEST_LOOP(no_time_to_read_what_is_emptied, 0, 9)
{
	struct mu_check check = {
		.timeout_ns = (500 + 150 * (uint64_t)_i) * MS,
		.max_pause_ns = 300 * MS,
		.limit = 10,
		.progress = dawdle,
	};
	struct mu_report answer;

	start(EMPTIED);
	check.pid = target;
	if (mu_check_process(&check, &answer) == MU_OK)
		ck_assert_uint_eq(answer.info.num_leaks, 1);
	mu_check_release(&answer);
	end();
}

/* The rest is read while it may change, and the answer says so. */
TEST(too_much_left_out)
{
	start(BIG_LEFT_OUT);
	shared->longest_ns = 0;
	expect_lost(MU_PARTIAL, 60);
	ck_assert_uint_lt(shared->longest_ns, 2000 * MS);
	expect_lost(MU_OK, 20000);
	end();
}

static int
play(int argc, char **argv)
{
	if (argc == TARGET_ARGC)
		run_target(argv);
	return -1;
}

SUITE(.unfiltered = SUITE_INJECTS, .play = play, .timeout = 400);
