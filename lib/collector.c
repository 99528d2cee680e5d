/*
 * The second process: see collector.h.
 *
 * It is a clone that shares the program's memory but is a thread group of its
 * own, because a thread cannot trace its own group; a plain fork would freeze
 * the memory before the registers. It does not share the descriptor table
 * (CLONE_FILES): what it opens never shows in the program, and closing its
 * copies drops no record lock, which belong to the table they were taken
 * through (fcntl_locking in fs/locks.c). Nor does it share the working folder
 * (CLONE_FS): a set-user-ID program that another thread executes meanwhile
 * would not get its rights (check_unsafe_exec in fs/exec.c). It has the
 * program's signal handlers but all signals blocked: a Ctrl-C sent to the
 * process group must not run a handler of the program here.
 *
 * It shares the TLS, errno included, with the thread that asked: raw system
 * calls only.
 */
#include "lib/collector.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/caller.h"
#include "lib/descriptors.h"
#include "lib/left_out.h"
#include "lib/library.h"
#include "lib/sweeper.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/refusal.h"
#include "ptrace/snapshot_live.h"
#include "ptrace/threads.h"

/* How long after the deadline the collector may take to let go. */
#define GRACE_NS (2 * MU_NS_PER_SEC)

/*
 * CLONE_PARENT makes the sweeper a child of the program with the collector's
 * exit signal, none: no SIGCHLD, invisible to waitpid(-1). As a grandchild it
 * would be handed to init or a subreaper with SIGCHLD set (reparent_leader in
 * kernel/exit.c). CLONE_FILES shares the table that was emptied before the
 * stop, so that no socket of the program is kept open by the copy.
 */
static enum mu_status
start_sweeper(struct mu_pass *pass)
{
	/* The kernel notes the pid: we may be killed before we could. */
	long pid = mu_syscall6(SYS_clone,
	    CLONE_PARENT | CLONE_FILES | CLONE_UNTRACED | CLONE_PARENT_SETTID,
	    0, (long)&pass->sweeper, 0, 0, 0);

	if (pid == 0)
		mu_sweeper(pass);
	if (pid < 0)
		return mu_why(&pass->why, mu_status_from_errno((int)-pid),
		    "cannot fork the sweeper (errno %ld)", -pid);
	return MU_OK;
}

static enum mu_status
capture(struct mu_pass *pass)
{
	struct mu_threads threads = { 0 };
	uint64_t begin = mu_sys_now_ns();
	enum mu_status status;

	status = mu_threads_stop(&threads, pass->pid, pass->tid, &pass->arena,
	    pass->stop_ns, &pass->why);
	if (status == MU_OK)
		status = mu_caller_add(pass);
	if (status == MU_OK)
		status = mu_snapshot_live(
		    &pass->snap, &threads, &pass->arena, &pass->why);
	if (status == MU_OK)
		status = start_sweeper(pass);
	if (status == MU_OK)
		mu_left_out_await(pass);
	mu_threads_release(&threads);
	pass->pause_ns = mu_sys_now_ns() - begin;
	return status;
}

static void
collector_body(void *arg)
{
	struct mu_pass *pass = arg;
	const int keep[] = { pass->pipe_write, pass->log.fd,
		pass->log.syslog_fd, mu_procfs_descriptor() };
	/* A filter's SIGSYS would dump the program's memory: see manners.c. */
	static const struct rlimit64 no_core = { 1, 1 };

	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	mu_sys4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0);
	if (mu_sys0(SYS_getppid) != pass->pid)
		mu_sys_exit(1);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-collector");
	/* A stop of the program's group must not stop who holds its threads. */
	mu_sys2(SYS_setpgid, 0, 0);
	while (__atomic_load_n(&pass->gate, __ATOMIC_ACQUIRE) == 0)
		mu_sys_futex_wait(
		    &pass->gate, 0, FUTEX_PRIVATE_FLAG, pass->deadline_ns);
	mu_descriptors_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	mu_left_out_prepare(pass);
	pass->collected = capture(pass);
	mu_sys_exit(pass->collected == MU_OK ? 0 : 1);
}

/* Wait for the collector's exit; kill it when it outstays the deadline. */
static void
await_exit(struct mu_pass *pass)
{
	uint64_t limit = pass->deadline_ns + GRACE_NS;
	bool killed = false;
	int tid, status = 0;

	while ((tid = __atomic_load_n(
		    &pass->collector_alive, __ATOMIC_ACQUIRE)) != 0) {
		if (mu_sys_now_ns() >= limit) {
			mu_sys_kill(pass->collector, SIGKILL);
			killed = true;
			limit = UINT64_MAX / 2;
		}
		/* Not private: the kernel wakes it as a shared futex. */
		mu_sys_futex_wait(&pass->collector_alive, tid, 0, limit);
	}
	while (mu_sys_wait(pass->collector, &status, MU_WALL) == -EINTR)
		continue;
	/* MU-31: expiry is a failure of its own. */
	if (pass->collected != MU_ERR_HELPER_DIED)
		return;
	if (killed)
		pass->collected = mu_why(&pass->why, MU_ERR_TIMEOUT,
		    "the collector did not finish in time");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		pass->collected = mu_refusal_deadly(&pass->why);
	else
		mu_why_died(&pass->why, "the collector", status);
}

/*
 * Yama's scope 1 lets a process be traced by its ancestors only, and the
 * collector is a child: the program must name it. What the program named
 * before cannot be read back: it is forgotten, so this comes second.
 */
static bool
yama_wants_a_name(void)
{
	char scope[4];

	return mu_procfs_read("/proc/sys/kernel/yama/ptrace_scope", scope,
		   sizeof(scope)) > 0 &&
	    scope[0] == '1';
}

static enum mu_status
run_once(struct mu_pass *pass, bool named)
{
	long pid;

	pass->collected = MU_ERR_HELPER_DIED;
	pass->collector_alive = -1;
	pass->gate = 0;
	mu_why(&pass->why, MU_ERR_HELPER_DIED, "the collector died");
	pid = mu_arch_clone(CLONE_VM | CLONE_UNTRACED | CLONE_PARENT_SETTID |
		CLONE_CHILD_CLEARTID,
	    pass->stack + pass->stack_size, &pass->collector_alive,
	    collector_body, pass);
	if (pid < 0)
		return mu_why(&pass->why, mu_status_from_errno((int)-pid),
		    "cannot start the collector (errno %ld)", -pid);
	pass->collector = (pid_t)pid;
	if (named)
		mu_sys2(SYS_prctl, PR_SET_PTRACER, pid);
	__atomic_store_n(&pass->gate, 1, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&pass->gate, 1, FUTEX_PRIVATE_FLAG);
	await_exit(pass);
	if (named)
		mu_sys2(SYS_prctl, PR_SET_PTRACER, 0);
	return pass->collected;
}

enum mu_status
mu_collector_run(struct mu_pass *pass)
{
	enum mu_status status = run_once(pass, false);

	if (status == MU_ERR_PTRACE_YAMA && yama_wants_a_name())
		status = run_once(pass, true);
	return status;
}
