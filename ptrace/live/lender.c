#include "ptrace/live/lender.h"

#include <sched.h>

#include "mu/sys.h"
#include "ptrace/live/wakeup.h"

#define STACK_SIZE (((size_t)16 << 10) + MU_STACK_GUARD)
#define LENT_PRIORITY 1
#define CPU_BITS 8192 /* more than any kernel supports (NR_CPUS) */

/* If nothing can be lent to a thread: it has ended, or Linux before 5.14. */
#define NAP_NS MU_NS_PER_MS

static void
lend(void *arg)
{
	struct mu_lender *lender = arg;
	int tid;

	for (;;) {
		tid = __atomic_load_n(&lender->borrower, __ATOMIC_ACQUIRE);
		if (tid == 0)
			mu_sys_futex_await(&lender->borrower, 0);
		else if (!mu_wakeup_boost(tid))
			mu_sys_futex_wait(&lender->borrower, tid,
			    FUTEX_PRIVATE_FLAG, mu_sys_now_ns() + NAP_NS);
	}
}

static bool
has_cpus(void)
{
	uint64_t mask[CPU_BITS / 64] = { 0 };
	unsigned i, count = 0;

	mu_sys3(SYS_sched_getaffinity, 0, (long)sizeof(mask), (long)mask);
	for (i = 0; i < sizeof(mask) / sizeof(mask[0]); i++)
		count += (unsigned)__builtin_popcountll(mask[i]);
	return count > 1;
}

void
mu_lender_open(struct mu_lender *lender)
{
	long stack = has_cpus() ? mu_sys_map_stack(STACK_SIZE) : -ENOMEM, tid;

	if (mu_sys_failed(stack))
		return;
	tid = mu_arch_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED,
	    (char *)stack + STACK_SIZE, NULL, lend, lender);
	if (tid > 0)
		lender->tid = (pid_t)tid;
	else
		mu_sys_munmap((void *)stack, STACK_SIZE);
}

/*
 * A change of its policy changes at once what a thread lends while it waits
 * (rt_mutex_adjust_pi() in kernel/sched/syscalls.c).
 */
void
mu_lender_lend(struct mu_lender *lender, pid_t tid)
{
	struct sched_param param = { .sched_priority = LENT_PRIORITY };
	int policy = SCHED_FIFO;

	if (lender == NULL || lender->tid == 0 ||
	    __atomic_load_n(&lender->borrower, __ATOMIC_RELAXED) == tid)
		return;
	if (tid == 0) {
		param.sched_priority = 0;
		policy = SCHED_OTHER;
	}
	mu_sys3(SYS_sched_setscheduler, lender->tid, policy, (long)&param);
	mu_sys_futex_set(&lender->borrower, tid, 1, FUTEX_PRIVATE_FLAG);
}
