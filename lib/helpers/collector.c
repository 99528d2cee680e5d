/*
 * It is a clone that shares the program's memory but is a thread group of its
 * own, because a thread cannot trace its own group; a plain fork would freeze
 * the memory before the registers. It does not share the descriptor table
 * (CLONE_FILES): what it opens never shows in the program, and closing its
 * copies drops no record lock, which belong to the table they were taken
 * through (fcntl_locking in fs/locks.c). Nor does it share the working folder
 * (CLONE_FS): otherwise a set-user-ID program that another thread executes
 * would not get its rights (check_unsafe_exec in fs/exec.c). It has the
 * program's signal handlers but all signals blocked: a Ctrl-C sent to the
 * process group must not run a handler of the program here.
 *
 * It shares the TLS, errno included, with the thread that asked: raw system
 * calls only.
 */
#include "lib/helpers/collector.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/helpers/descriptors.h"
#include "lib/helpers/image.h"
#include "lib/helpers/sweeper.h"
#include "lib/helpers/urgency.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/left_out.h"
#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/alternate_stacks.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"

/* Time that the collector may take to release threads after the deadline. */
#define GRACE_NS (2 * MU_NS_PER_SEC)

/* A wake-up that a filter refuses comes this much late. */
#define SLICE_NS (20 * 1000 * 1000ull)

/* A sleep in a fork that is no wait for a lock or for memory. */
#define STUCK_NS (300 * 1000 * 1000ull)

/*
 * pass->collector_phase: its tid while it prepares; then these; when it is
 * gone the kernel writes 0 and wakes us (CLONE_CHILD_CLEARTID).
 */
#define PHASE_READY (-2) /* it waits at the gate, for malloc to be frozen */
#define PHASE_TAKEN (-3) /* the image is there: malloc may thaw */

enum { GATE_SHUT, GATE_GO, GATE_LEAVE };

/*
 * CLONE_PARENT makes the sweeper a child of the program with the collector's
 * exit signal, none: no SIGCHLD, invisible to waitpid(-1). As a grandchild it
 * would be handed to init or a subreaper with SIGCHLD set (reparent_leader in
 * kernel/exit.c). CLONE_FILES shares the table that was emptied before the
 * stop, so that no socket of the program is kept open by the copy.
 */
static enum mu_status
start_sweeper(struct mu_pass *pass, struct mu_urgency *urgency)
{
	/* The kernel notes the pid: we may be killed before we could. */
	long pid = mu_syscall6(SYS_clone,
	    CLONE_PARENT | CLONE_FILES | CLONE_UNTRACED | CLONE_PARENT_SETTID,
	    0, (long)&pass->sweeper, 0, 0, 0);

	if (pid == 0) {
		mu_urgency_drop(urgency);
		mu_sweeper(pass);
	}
	if (pid < 0)
		return mu_why(&pass->why, mu_status_from_errno((int)-pid),
		    "cannot fork the sweeper (errno %ld)", -pid);
	return MU_OK;
}

/* The futex is not private: the kernel wakes it as a shared one. */
static void
enter_phase(struct mu_pass *pass, int phase)
{
	__atomic_store_n(&pass->collector_phase, phase, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&pass->collector_phase, 1, 0);
}

static int
await_gate(struct mu_pass *pass)
{
	int gate;

	while ((gate = __atomic_load_n(&pass->gate, __ATOMIC_ACQUIRE)) ==
	    GATE_SHUT)
		mu_sys_futex_wait(&pass->gate, GATE_SHUT, FUTEX_PRIVATE_FLAG,
		    mu_sys_now_ns() + SLICE_NS);
	return gate;
}

/* Threads are stopped from here to the release: do nothing else in between. */
static enum mu_status
capture(struct mu_pass *pass, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	struct mu_urgency urgency = { .raised = false };
	enum mu_status status;

	/* A filter may kill for a call that the program never makes. */
	if (!pass->filtered)
		mu_urgency_raise(&urgency);
	status = mu_threads_stop_listed(threads, pass->stop_ns, &pass->why);
	if (status == MU_OK)
		status = mu_caller_add(pass);
	if (status == MU_OK)
		status = mu_snapshot_live(
		    &pass->snap, threads, files, &pass->arena, &pass->why);
	if (status == MU_OK && pass->ask_stacks)
		pass->unasked = mu_alternate_stacks_add(
		    &pass->snap, threads, &pass->arena, pass->stop_ns);
	if (status == MU_OK)
		status = mu_image_note(pass);
	if (status == MU_OK)
		status = start_sweeper(pass, &urgency);
	if (status == MU_OK) {
		/* The threads stay stopped until the sweeper has read that. */
		if (pass->hold || pass->shared)
			mu_urgency_lend(&urgency, pass->sweeper);
		mu_room_prefer(pass->sweeper);
		mu_left_out_await(pass);
	}
	/* Thaw malloc first: a released thread may allocate at once. */
	enter_phase(pass, PHASE_TAKEN);
	mu_threads_release(threads);
	pass->pause_ns = mu_sys_now_ns() - threads->begin_ns;
	return status;
}

static void
collector_body(void *arg)
{
	struct mu_pass *pass = arg;
	const int keep[] = { pass->pipe_write, pass->log.fd,
		pass->log.syslog_fd, mu_procfs_descriptor() };
	struct mu_kernel_files files;
	struct mu_threads threads;
	enum mu_status status;
	/* A filter's SIGSYS would dump the program's memory: see
	 * sweeper_limits.c. */
	static const struct rlimit64 no_core = { 1, 1 };

	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	mu_sys4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0);
	if (mu_sys0(SYS_getppid) != pass->pid)
		mu_sys_exit(1);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-collector");
	/*
	 * A SIGSTOP to the program's group must not stop the tracer of its
	 * threads.
	 */
	mu_sys2(SYS_setpgid, 0, 0);
	mu_descriptors_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	mu_left_out_prepare(pass);
	mu_kernel_files_open(&files, pass->tid);
	status = mu_threads_prepare(
	    &threads, pass->pid, pass->tid, &pass->arena, &pass->why);
	if (status == MU_OK)
		status = mu_pause_await_calm(pass->pid, &pass->why);
	/* It takes some milliseconds. */
	if (status == MU_OK && pass->ask_stacks)
		threads.code.at.back = mu_remote_code_back(pass->pid);
	if (status == MU_OK) {
		enter_phase(pass, PHASE_READY);
		if (await_gate(pass) == GATE_LEAVE)
			mu_sys_exit(0);
		status = capture(pass, &threads, &files);
	}
	pass->collected = status;
	mu_sys_exit(status == MU_OK ? 0 : 1);
}

/* How long the collector may live, and whether we had to end it. */
struct life {
	uint64_t limit_ns;
	bool killed;
	uint64_t stuck_ns; /* so long it may sleep uninterruptibly */
	bool stuck;        /* it slept longer */
};

/*
 * A fork of memory that is registered with a userfaultfd waits until its events
 * have been read, which does a thread that stands still. When the stop has used
 * up its time, the collector is watched for that.
 */
static bool
is_stuck(const struct mu_pass *pass, struct life *life, uint64_t now)
{
	if (now < pass->stop_ns || pass->stop_ns == 0)
		return false;
	if (life->stuck_ns == 0 ||
	    mu_proc_state(pass->collector, pass->collector) != 'D')
		life->stuck_ns = now + STUCK_NS;
	return now >= life->stuck_ns;
}

/* Wait while it is in PHASE; which one comes next. */
static int
await_phase(struct mu_pass *pass, int phase, struct life *life)
{
	uint64_t now;
	int next;

	while ((next = __atomic_load_n(
		    &pass->collector_phase, __ATOMIC_ACQUIRE)) == phase) {
		now = mu_sys_now_ns();
		life->stuck |= phase == PHASE_READY && !life->killed &&
		    is_stuck(pass, life, now);
		if ((now >= life->limit_ns || life->stuck) && !life->killed) {
			mu_sys_kill(pass->collector, SIGKILL);
			life->killed = true;
		}
		mu_sys_futex_wait(
		    &pass->collector_phase, phase, 0, now + SLICE_NS);
	}
	return next;
}

static void
open_gate(struct mu_pass *pass)
{
	enum mu_status status = mu_allocator_freeze(pass);

	if (status != MU_OK)
		pass->collected = status;
	__atomic_store_n(&pass->gate, status == MU_OK ? GATE_GO : GATE_LEAVE,
	    __ATOMIC_RELEASE);
	mu_sys_futex_wake(&pass->gate, 1, FUTEX_PRIVATE_FLAG);
}

/* Malloc is frozen from when the collector is ready until it has an image. */
static void
attend(struct mu_pass *pass)
{
	struct life life = { .limit_ns = pass->deadline_ns + GRACE_NS };
	int phase, status = 0;

	phase = await_phase(pass, pass->collector, &life);
	if (phase == PHASE_READY) {
		open_gate(pass);
		phase = await_phase(pass, PHASE_READY, &life);
		mu_allocator_thaw(pass);
	}
	if (phase == PHASE_TAKEN)
		await_phase(pass, PHASE_TAKEN, &life);
	while (mu_sys_wait(pass->collector, &status, MU_WALL) == -EINTR)
		continue;
	/* An expired deadline has a separate status. */
	if (pass->collected != MU_ERR_HELPER_DIED)
		return;
	if (life.stuck)
		pass->collected = mu_why(&pass->why, MU_ERR_BUSY,
		    "a fork of this process waits, mostly for a thread that"
		    " reads the events of a userfaultfd" MU_CURE
		    "memunreachable -p"
		    " can read the process instead");
	else if (life.killed)
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
	pass->collector_phase = -1;
	pass->gate = GATE_SHUT;
	mu_why(&pass->why, MU_ERR_HELPER_DIED, "the collector died");
	pid = mu_arch_clone(CLONE_VM | CLONE_UNTRACED | CLONE_PARENT_SETTID |
		CLONE_CHILD_CLEARTID,
	    pass->stack + pass->stack_size, &pass->collector_phase,
	    collector_body, pass);
	if (pid < 0)
		return mu_why(&pass->why, mu_status_from_errno((int)-pid),
		    "cannot start the collector (errno %ld)", -pid);
	pass->collector = (pid_t)pid;
	if (named)
		mu_sys2(SYS_prctl, PR_SET_PTRACER, pid);
	attend(pass);
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
