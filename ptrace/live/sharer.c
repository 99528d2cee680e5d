/*
 * The kernel does not say how many processes use an address space; kcmp() only
 * compares those of two.
 */
#include "ptrace/live/sharer.h"

#include <linux/kcmp.h>
#include <sched.h>

#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

/*
 * A child of vfork() or posix_spawn() executes its program within about 1 ms.
 */
#define LASTS_NS (20 * 1000 * 1000ull)

struct sharing {
	pid_t pid, except, self, found;
	pid_t tid; /* one of PID's threads that has not ended */
};

static bool
is_alive(const struct sharing *sharing)
{
	return !mu_proc_ended(mu_proc_state(sharing->pid, sharing->tid));
}

static bool
visit_thread(void *ctx, int number)
{
	struct sharing *sharing = ctx;

	sharing->tid = number;
	return !is_alive(sharing);
}

/*
 * A thread that has ended has no address space and compares as equal to kernel
 * threads. The main thread may end long before the others.
 */
static bool
find_thread(struct sharing *sharing)
{
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task/", sharing->pid);
	mu_proc_numbers(path, visit_thread, sharing);
	return sharing->tid != 0;
}

static bool
shares(const struct sharing *sharing, pid_t other)
{
	return mu_syscall6(SYS_kcmp, sharing->tid, other, KCMP_VM, 0, 0, 0) ==
	    0;
}

static bool
visit(void *ctx, int number)
{
	struct sharing *sharing = ctx;

	if (number != sharing->pid && number != sharing->except &&
	    number != sharing->self && shares(sharing, number))
		sharing->found = number;
	return sharing->found == 0;
}

static bool
may_ask(void)
{
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_own_status(status, sizeof(status)) > 0 &&
	    !mu_proc_status_filtered(status);
}

bool
mu_sharer_none(void)
{
	return mu_sys1(SYS_unshare, CLONE_VM) == 0;
}

pid_t
mu_sharer_find(pid_t pid, pid_t except)
{
	struct sharing sharing = {
		.pid = pid,
		.except = except,
		.self = mu_sys_getpid(),
	};

	if (!may_ask() || !find_thread(&sharing))
		return 0;
	mu_proc_numbers("/proc/", visit, &sharing);
	if (sharing.found == 0)
		return 0;
	mu_sys_sleep_ns(LASTS_NS);
	return shares(&sharing, sharing.found) && is_alive(&sharing)
	    ? sharing.found
	    : 0;
}
