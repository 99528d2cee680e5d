#include "lib/helpers/keeper_drop.h"

#include <signal.h>
#include <sys/prctl.h>

#include "lib/helpers/descriptors.h"
#include "lib/helpers/oom_score.h"
#include "lib/helpers/priority.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/remote/process_copy_end.h"

/*
 * Time for the kernel to end a copy whose tracer is gone (PTRACE_O_EXITKILL).
 */
#define END_NS (10 * MU_NS_PER_SEC)
#define END_NAP_NS (1000 * 1000ull)

/* Time for a copy to appear that was being made when the keeper was killed. */
#define APPEAR_NS (200 * 1000 * 1000ull)
#define APPEAR_NAP_NS (10 * 1000 * 1000ull)

/* Time to end the copy: for one try, and for all. */
#define ONE_DROP_NS MU_NS_PER_SEC
#define DROP_NS (60 * MU_NS_PER_SEC)
#define DROP_NAP_NS (20 * 1000 * 1000ull)

void
mu_keeper_kill_stopped(pid_t pid)
{
	if (pid != 0 && mu_proc_state(pid, pid) == 'T')
		mu_sys_kill(pid, SIGKILL);
}

void
mu_keeper_isolate(const char *name, const int *keep, size_t count)
{
	mu_sigmask mask;

	mu_sys_block_signals(&mask);
	mu_sys0(SYS_setsid);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)name);
	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGCONT);
	mu_descriptors_close_but(keep, count);
	mu_oom_score_lower();
}

/*
 * Ending a large copy takes time, during which a thread of the process is
 * stopped until it has reaped the copy, so do not interrupt this.
 */
static enum mu_status
drop_once(struct mu_keeper_work *work, struct mu_lender *lender)
{
	uint64_t end_ns = mu_sys_now_ns() + ONE_DROP_NS;
	struct mu_process_copy *copy = &work->copy;
	struct mu_priority priority;
	enum mu_status status;

	if (copy->pid == 0)
		return MU_OK;
	if (!mu_process_copy_end(copy, end_ns))
		return MU_ERR_TIMEOUT;
	mu_priority_raise_above(&priority);
	copy->lender = priority.above ? lender : NULL;
	status =
	    mu_process_copy_reap_ended(copy, work->asked.target, end_ns, NULL);
	mu_priority_restore(&priority);
	return status;
}

void
mu_keeper_drop(struct mu_keeper_work *work, struct mu_lender *lender)
{
	uint64_t end_ns = mu_sys_now_ns() + DROP_NS;
	enum mu_status status;

	do {
		status = drop_once(work, lender);
		if (status != MU_OK)
			mu_sys_sleep_ns(DROP_NAP_NS);
	} while (status != MU_OK && mu_sys_now_ns() < end_ns);
}

/*
 * The keeper may have been killed before it knew of its copy. That runs, and so
 * ends.
 */
static void
drop_unknown(const struct mu_keeper_work *work)
{
	uint64_t now_ns = mu_sys_now_ns(), end_ns = now_ns + APPEAR_NS;
	pid_t target = work->asked.target;

	while (!mu_process_copy_any_left(target) && now_ns < end_ns) {
		mu_sys_sleep_ns(APPEAR_NAP_NS);
		now_ns = mu_sys_now_ns();
	}
	mu_process_copy_drop_left(target, 0, now_ns + ONE_DROP_NS);
}

/* Until it is a zombie no thread need be stopped to reap it. */
void
mu_keeper_drop_left(struct mu_keeper_work *work)
{
	uint64_t end_ns = mu_sys_now_ns() + END_NS;
	pid_t pid = work->copy.pid, target = work->asked.target;

	if (pid == 0) {
		drop_unknown(work);
		return;
	}
	while (mu_proc_parent(pid) == target &&
	    !mu_proc_ended(mu_proc_state(pid, pid)) && mu_sys_now_ns() < end_ns)
		mu_sys_sleep_ns(END_NAP_NS);
	if (mu_proc_parent(pid) != target)
		return;
	work->copy.child = mu_proc_inner_pid(pid);
	work->copy.ended = mu_proc_ended(mu_proc_state(pid, pid));
	mu_keeper_drop(work, NULL);
}
