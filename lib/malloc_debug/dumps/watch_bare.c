#include "lib/malloc_debug/dumps/watch_bare.h"

#include <linux/kcmp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "mu/signal_action.h"
#include "mu/sys.h"

#define SIGSETXID 33 /* glibc's own; passes may stop threads with it */
#define BEGIN_NS (MU_NS_PER_SEC / 2) /* limit for a handler of a signal */
#define END_NS (10 * MU_NS_PER_SEC)  /* for jobs, when the program has ended */
#define STACK_SIZE (((size_t)256 << 10) + MU_STACK_GUARD)

static struct {
	int *pending;
	void (*run)(int bits);
	char *stack;     /* NULL: nothing is done */
	int busy;        /* a thread exists and will check once more */
	int tid;         /* not 0 until it has left its stack: cleared by the
			    kernel */
	int pid;         /* process to which it belongs */
	char *job_stack; /* of the process that does the jobs */
	int bits;        /* of its jobs */
	int begun;       /* it exists, or cannot be made */
	int job_pid;
} bare;

bool
watch_bare_prepare(int *pending, void (*run)(int bits))
{
	long address = mu_sys_map_stack(STACK_SIZE);
	long job_address = mu_sys_map_stack(STACK_SIZE);

	if (mu_sys_failed(address) || mu_sys_failed(job_address))
		return false;
	bare.job_stack = (char *)job_address;
	bare.pending = pending;
	bare.run = run;
	bare.stack = (char *)address;
	bare.pid = mu_sys_getpid();
	return true;
}

static void
do_jobs(void *arg)
{
	(void)arg;
	bare.job_pid = mu_sys_getpid();
	bare.run(bare.bits);
	for (;;)
		mu_sys1(SYS_exit_group, 0);
}

static void
tell_begun(void)
{
	__atomic_store_n(&bare.begun, 1, __ATOMIC_SEQ_CST);
	mu_sys_futex_wake(&bare.begun, INT32_MAX, FUTEX_PRIVATE_FLAG);
}

/*
 * A process that shares the memory does the jobs: it lives on when a signal
 * ends the program, and the file becomes complete. Linux before 5.16 ends it,
 * too, if the program dumps core. Under a seccomp filter, which may kill for
 * that, the thread does them.
 */
static void
do_jobs_in_process(int bits)
{
	const long flags =
	    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_UNTRACED;
	long pid = -EPERM, error;

	bare.bits = bits;
	if (mu_sys1(SYS_prctl, PR_GET_SECCOMP) == 0)
		pid = mu_arch_clone((unsigned long)flags,
		    bare.job_stack + STACK_SIZE, NULL, do_jobs, NULL);
	tell_begun();
	if (pid < 0) {
		bare.run(bits);
		return;
	}
	do
		error = mu_sys4(SYS_wait4, pid, 0, __WALL, 0);
	while (error == -EINTR);
	bare.job_pid = 0;
}

/* After the store to BUSY, the next signal starts another thread. */
static void
work(void *arg)
{
	const mu_sigmask mask = ~mu_signal_bit(SIGSETXID);
	int bits, idle = 0;

	(void)arg;
	mu_sys_restore_signals(&mask);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"malloc_debug");
	do {
		while ((bits = __atomic_exchange_n(
			    bare.pending, 0, __ATOMIC_ACQ_REL)) != 0)
			do_jobs_in_process(bits);
		__atomic_store_n(&bare.busy, 0, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(bare.pending, __ATOMIC_SEQ_CST) == 0)
			break;
		idle = 0;
	} while (__atomic_compare_exchange_n(
	    &bare.busy, &idle, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	for (;;)
		mu_sys1(SYS_exit, 0);
}

/*
 * True if the watcher belongs to this process. A child made by a bare clone()
 * has a copy of this memory, with the busy mark of the parent's thread: it
 * starts afresh. A child of vfork() has the memory itself: a second thread on
 * that stack would overwrite the frames of the first. What a signal requests
 * from it stays pending for its parent. If kcmp(2) is refused a child is
 * assumed to be one of vfork().
 */
static bool
is_ours(void)
{
	int pid = mu_sys_getpid();
	long order;

	if (pid == bare.pid)
		return true;
	order = mu_sys3(SYS_kcmp, pid, bare.pid, KCMP_VM);
	if (order <= 0 && order != -ESRCH)
		return false;
	watch_bare_fork_child();
	return true;
}

void
watch_bare_wake(void)
{
	int idle = 0, tid;
	mu_sigmask mask;
	uint64_t deadline;
	long error;

	if (bare.stack == NULL || !is_ours())
		return;
	if (!__atomic_compare_exchange_n(&bare.busy, &idle, 1, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	/* Wait until the previous thread has left the stack. */
	while ((tid = __atomic_load_n(&bare.tid, __ATOMIC_ACQUIRE)) != 0)
		mu_sys_futex_wait(
		    &bare.tid, tid, 0, mu_sys_now_ns() + MU_NS_PER_SEC);
	__atomic_store_n(&bare.begun, 0, __ATOMIC_SEQ_CST);
	mu_sys_block_signals(&mask);
	error = mu_arch_clone(CLONE_VM | CLONE_FS | CLONE_FILES |
		CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	    bare.stack + STACK_SIZE, &bare.tid, work, NULL);
	if (error < 0)
		__atomic_store_n(&bare.busy, 0, __ATOMIC_RELEASE);
	/* What the program does next may be its end. */
	deadline = mu_sys_now_ns() + BEGIN_NS;
	while (error >= 0 && mu_sys_now_ns() < deadline &&
	    __atomic_load_n(&bare.begun, __ATOMIC_SEQ_CST) == 0)
		mu_sys_futex_wait(&bare.begun, 0, FUTEX_PRIVATE_FLAG, deadline);
	mu_sys_restore_signals(&mask);
}

int
watch_bare_program(void)
{
	int pid = mu_sys_getpid();

	return pid == bare.job_pid ? bare.pid : pid;
}

bool
watch_bare_late(void)
{
	static uint64_t deadline;

	if (mu_sys_getpid() != bare.job_pid ||
	    (int)mu_sys0(SYS_getppid) == bare.pid)
		return false;
	if (deadline == 0)
		deadline = mu_sys_now_ns() + END_NS;
	return mu_sys_now_ns() > deadline;
}

bool
watch_bare_busy(void)
{
	return is_ours() && __atomic_load_n(&bare.busy, __ATOMIC_ACQUIRE) != 0;
}

void
watch_bare_fork_child(void)
{
	__atomic_store_n(&bare.tid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&bare.busy, 0, __ATOMIC_RELEASE);
	bare.pid = mu_sys_getpid();
}
