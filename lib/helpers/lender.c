#include "lib/helpers/lender.h"

#include <sched.h>

#include "lib/helpers/priority.h"
#include "mu/sys.h"
#include "ptrace/live/wakeup.h"

#define STACK_SIZE (((size_t)16 << 10) + MU_STACK_GUARD)

/* If nothing can be lent to a thread: it has ended, or Linux before 5.14. */
#define NAP_NS MU_NS_PER_MS

static void
lend(void *arg)
{
	struct mu_lender *lender = arg;
	struct mu_priority priority;
	int tid;

	mu_priority_raise(&priority);
	for (;;) {
		tid = __atomic_load_n(&lender->tid, __ATOMIC_ACQUIRE);
		if (tid == 0)
			mu_sys_futex_await(&lender->tid, 0);
		else if (!mu_wakeup_boost(tid))
			mu_sys_futex_wait(&lender->tid, tid, FUTEX_PRIVATE_FLAG,
			    mu_sys_now_ns() + NAP_NS);
	}
}

void
mu_lender_open(struct mu_lender *lender)
{
	long stack = mu_sys_map_stack(STACK_SIZE);

	if (mu_sys_failed(stack))
		return;
	lender->started =
	    mu_arch_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		    CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED,
		(char *)stack + STACK_SIZE, NULL, lend, lender) > 0;
	if (!lender->started)
		mu_sys_munmap((void *)stack, STACK_SIZE);
}
