/*
 * What is known of a thread in uninterruptible sleep, and whether it has run
 * since.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "ptrace/live/asleep.h"
#include "ptrace/live/proc.h"
#include "tests/support/clock.h"
#include "tests/support/suite.h"

/* Shared with the process that is looked at. */
struct shared {
	_Atomic pid_t tid, child;
	_Atomic uintptr_t tp, frame;
	_Atomic bool back;
};

static struct shared *shared;
static pid_t pid;

/* Until the child is killed. */
static void *
wait_in_vfork(void *arg)
{
	struct timespec nap = { 60, 0 };
	pid_t child;

	shared->tp = (uintptr_t)pthread_self();
	shared->frame = (uintptr_t)&nap;
	shared->tid = gettid();
	child = vfork();
	if (child == 0) {
		shared->child = (pid_t)syscall(SYS_getpid);
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_nanosleep, &nap, NULL);
		_exit(0);
	}
	shared->back = true;
	return arg;
}

static void
start(void)
{
	pthread_t thread;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, wait_in_vfork, NULL);
		for (;;)
			pause();
	}
	while (shared->child == 0 || mu_proc_state(pid, shared->tid) != 'D')
		nap_ms(1);
}

static void
end(void)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
add(struct mu_asleep *asleep, pid_t tid)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t switches;

	mu_proc_status_read(pid, tid, status, sizeof(status));
	switches = mu_asleep_switches(status);
	ck_assert_int_ge(switches, 0);
	ck_assert(mu_asleep_add(asleep, tid, switches));
}

TEST(thread_that_wakes_up)
{
	struct mu_asleep asleep = { .count = 0 };

	start();
	add(&asleep, shared->tid);
	ck_assert(mu_asleep_has(&asleep, shared->tid));
	ck_assert(!mu_asleep_has(&asleep, pid));
	ck_assert(!mu_asleep_has(NULL, pid));
	nap_ms(20);
	ck_assert_int_eq(mu_asleep_woken(&asleep, pid), 0);
	kill(shared->child, SIGKILL);
	while (!shared->back)
		nap_ms(1);
	ck_assert_int_eq(mu_asleep_woken(&asleep, pid), asleep.tids[0]);
	end();
}

TEST(thread_that_waits_otherwise)
{
	char status[MU_PROC_STATUS_SIZE];

	start();
	ck_assert_int_gt(
	    mu_proc_status_read(pid, pid, status, sizeof(status)), 0);
	ck_assert_int_eq(mu_asleep_switches(status), -1);
	end();
}

/* glibc registers its descriptor; in vfork() the whole stack counts. */
TEST(what_is_known)
{
	struct mu_words words = { .with_regnos = true };
	struct mu_proc_call call;
	struct mu_thread thread;
	struct mu_arena arena;

	start();
	mu_arena_open(&arena, (size_t)1 << 20);
	words.arena = &arena;
	ck_assert(mu_asleep_read(&thread, pid, shared->tid, &words));
	call = mu_proc_call_of(pid, shared->tid);
	ck_assert_int_eq(thread.tid, shared->tid);
	ck_assert_int_eq(thread.call, call.number);
	ck_assert_int_ge(call.number, 0);
	ck_assert_uint_eq(thread.sp, 0);
	if (MU_ROBUST_LIST_FROM_TP != 0)
		ck_assert_uint_eq(thread.tp, shared->tp);
	ck_assert_uint_ne(thread.pc, 0);
	ck_assert_uint_lt(call.sp, shared->frame + 4096);
	ck_assert_uint_gt(call.sp, shared->frame - 4096);
	mu_arena_close(&arena);
	end();
}

TEST(full)
{
	struct mu_asleep asleep = { .count = 0 };
	int i;

	for (i = 0; i < MU_ASLEEP_MAX; i++)
		ck_assert(mu_asleep_add(&asleep, i + 1, i));
	ck_assert(!mu_asleep_add(&asleep, i + 1, i));
	ck_assert(mu_asleep_has(&asleep, i));
	ck_assert(!mu_asleep_has(&asleep, i + 1));
}

SUITE();
