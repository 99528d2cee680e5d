/*
 * The process that outlives the keeper: see keeper.h.
 *
 * Runs in: guardian. Uses no malloc, no errno, no libc lock.
 */
#include "lib/keeper_drop.h"
#include "lib/keeper_line.h"
#include "lib/urgency.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/proc.h"

/* How long a thread in a call of the keeper's may take to come out of it. */
#define UNDO_NS (10 * MU_NS_PER_SEC)

/* For the kernel to end a copy whose tracer is gone (PTRACE_O_EXITKILL). */
#define END_NS (10 * MU_NS_PER_SEC)
#define END_NAP_NS (1000 * 1000ull)

/* The keeper was killed before it could say which copy there is. */
static void
find_copy(struct mu_keeper_work *work)
{
	pid_t pid = mu_proc_silent_child(work->asked.target);

	work->copy.pid = pid;
	work->copy.child = pid != 0 ? mu_proc_inner_pid(pid) : 0;
}

/* While it is not a zombie yet no thread need be stopped to reap it. */
static void
await_end(const struct mu_keeper_work *work)
{
	uint64_t end_ns = mu_sys_now_ns() + END_NS;
	pid_t pid = work->copy.pid;

	while (
	    !mu_proc_ended(mu_proc_state(pid, pid)) && mu_sys_now_ns() < end_ns)
		mu_sys_sleep_ns(END_NAP_NS);
}

void
mu_guardian_body(void *arg)
{
	struct mu_keeper_work *work = arg;
	const int keep[] = { work->life, work->ended, mu_procfs_descriptor() };

	struct mu_urgency urgency;

	mu_keeper_settle("mu-guardian", keep, sizeof(keep) / sizeof(keep[0]));
	/* A thread is about to run on with our registers. */
	mu_urgency_raise(&urgency);
	mu_keeper_line_await_cut(work->life, UINT64_MAX);
	if (work->done)
		mu_sys_exit(0);
	mu_remote_note_undo(
	    &work->note, work->asked.target, mu_sys_now_ns() + UNDO_NS);
	mu_urgency_drop(&urgency);
	if (work->copy.pid == 0)
		find_copy(work);
	if (work->copy.pid != 0) {
		mu_sys_kill(work->copy.pid, SIGKILL);
		await_end(work);
		mu_keeper_drop(work);
	}
	mu_sys_exit(0);
}
