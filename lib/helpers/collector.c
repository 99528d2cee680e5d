/*
 * The collector is a clone that shares the program's memory but is a separate
 * thread group, because a thread cannot trace its own group; a plain fork would
 * copy the memory before the registers are read. It does not share the
 * descriptor table (CLONE_FILES): what it opens never shows in the program, and
 * closing its copies drops no record lock, which belong to the table through
 * which they were taken (fcntl_locking in fs/locks.c). Nor does it share the
 * working folder (CLONE_FS): otherwise a set-user-ID program that another
 * thread executes would not get its rights (check_unsafe_exec in fs/exec.c). It
 * has the program's signal handlers but all signals blocked: a Ctrl-C sent to
 * the process group must not run a handler of the program here.
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
#include "lib/helpers/priority.h"
#include "lib/helpers/sweeper.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"
#include "ptrace/remote/alternate_stacks.h"

/* Time allowed after the deadline to release threads. */
#define GRACE_NS (2 * MU_NS_PER_SEC)

/* If a filter refuses the wake-up, it comes this late. */
#define SLICE_NS (20 * 1000 * 1000ull)

/* Longer than a fork sleeps for a lock or for memory. */
#define STUCK_NS (300 * 1000 * 1000ull)

/*
 * Values of the collector's phase: first its tid, then these. When it has ended
 * the kernel writes 0 and wakes us (CLONE_CHILD_CLEARTID).
 */
#define PHASE_READY (-2) /* it waits at the gate until malloc is frozen */
#define PHASE_TAKEN (-3) /* the image is taken: malloc may thaw */

enum { GATE_SHUT, GATE_GO, GATE_LEAVE };

/*
 * This is on the stack of the original, which waits until the collector has
 * ended.
 */
struct collector {
	struct mu_image *image;
	int phase;
	int gate; /* futex on which it waits */
	enum mu_status status;
};

/*
 * CLONE_PARENT makes the sweeper a child of the program with the collector's
 * exit signal, which is none: no SIGCHLD, invisible to waitpid(-1). A
 * grandchild would be reparented to init or a subreaper with SIGCHLD set
 * (reparent_leader in kernel/exit.c). CLONE_FILES shares the table that was
 * emptied before the stop, so that the copy keeps no socket of the program
 * open.
 */
static enum mu_status
start_sweeper(struct mu_image *image, struct mu_priority *priority)
{
	/* The kernel stores the pid: we may be killed before we could. */
	long pid = mu_syscall6(SYS_clone,
	    CLONE_PARENT | CLONE_FILES | CLONE_UNTRACED | CLONE_PARENT_SETTID,
	    0, (long)&image->sweeper.pid, 0, 0, 0);

	if (pid == 0) {
		mu_priority_restore(priority);
		mu_sweeper(image);
	}
	if (pid < 0)
		return mu_why(&image->job.why, mu_status_from_errno((int)-pid),
		    "cannot fork the sweeper (errno %ld)", -pid);
	return MU_OK;
}

/* The futex is not private: the kernel wakes it as a shared one. */
static void
enter_phase(struct collector *collector, int phase)
{
	mu_sys_futex_set(&collector->phase, phase, 1, 0);
}

static int
await_gate(struct collector *collector)
{
	int gate;

	while ((gate = __atomic_load_n(&collector->gate, __ATOMIC_ACQUIRE)) ==
	    GATE_SHUT)
		mu_sys_futex_wait(&collector->gate, GATE_SHUT,
		    FUTEX_PRIVATE_FLAG, mu_sys_now_ns() + SLICE_NS);
	return gate;
}

/* Threads are stopped from here until the release: do nothing unnecessary. */
static enum mu_status
capture(struct collector *collector, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	struct mu_image *image = collector->image;
	struct mu_priority priority = { .raised = false };
	enum mu_status status;

	/* A filter may kill for a call that the program never makes. */
	if (!image->stop.filtered)
		mu_priority_raise(&priority);
	status = mu_threads_stop_listed(
	    threads, image->stop.until_ns, &image->job.why);
	mu_late_threads_add(&image->stop.late, threads->late);
	if (status == MU_OK)
		status = mu_caller_add(image);
	if (status == MU_OK)
		status = mu_snapshot_live(&image->snap, threads, files,
		    &image->job.arena, &image->job.why);
	if (status == MU_OK && image->stop.ask_stacks)
		status = mu_alternate_stacks_add(&image->snap, threads,
		    &image->job.arena, image->stop.until_ns,
		    &image->stop.unasked, &image->job.why);
	if (status == MU_OK)
		status = mu_image_note(image);
	if (status == MU_OK)
		status = start_sweeper(image, &priority);
	if (status == MU_OK) {
		/*
		 * The threads stay stopped until the sweeper has read that
		 * memory.
		 */
		if (image->uncopied.hold || image->uncopied.shared)
			mu_priority_boost(&priority, image->sweeper.pid);
		mu_copy_budget_prefer(image->sweeper.pid);
		mu_gap_sync_await(image);
	}
	/* Thaw malloc first: a released thread may allocate at once. */
	enter_phase(collector, PHASE_TAKEN);
	mu_threads_release(threads);
	mu_image_paused(image, threads->end_ns - threads->begin_ns);
	return status;
}

/* A thread that is stopped before the others; 0: none. */
static pid_t
stopped_before(const struct mu_threads *threads)
{
	size_t i;

	for (i = 0; i < threads->count; i++)
		if (mu_tracee_stopped(&threads->tracees[i]))
			return threads->tracees[i].tid;
	return 0;
}

/* Half of the time of the pass. */
static uint64_t
late_until(const struct mu_image *image)
{
	uint64_t now = mu_sys_now_ns(), end_ns = image->job.deadline_ns;

	return end_ns > now ? now + (end_ns - now) / 2 : now;
}

static void
collector_body(void *arg)
{
	struct collector *collector = arg;
	struct mu_image *image = collector->image;
	const int keep[] = { image->sweeper.pipe_write, image->job.log.fd,
		image->job.log.syslog_fd, mu_procfs_descriptor() };
	struct mu_kernel_files files;
	struct mu_threads threads;
	enum mu_status status;
	/*
	 * The SIGSYS of a filter would dump the program's memory: see
	 * sweeper_limits.c.
	 */
	static const struct rlimit64 no_core = { 1, 1 };

	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	mu_sys4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0);
	if (mu_sys0(SYS_getppid) != image->job.pid)
		mu_sys_exit(1);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-collector");
	/*
	 * A SIGSTOP to the program's process group must not stop the tracer of
	 * its threads.
	 */
	mu_sys2(SYS_setpgid, 0, 0);
	mu_descriptors_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	mu_gap_sync_prepare(image);
	mu_kernel_files_open(&files, image->job.tid);
	status = mu_threads_prepare(&threads, image->job.pid, image->job.tid,
	    &image->job.arena, &image->job.why);
	if (status == MU_OK)
		status = mu_pause_await_interruptible(
		    image->job.pid, &threads.filtered, NULL, &image->job.why);
	threads.before = image->stop.late;
	if (status == MU_OK)
		status = mu_threads_await_late(&threads, late_until(image),
		    mu_library.options.max_pause * MU_NS_PER_MS,
		    &image->job.why);
	/* It takes some milliseconds. */
	if (status == MU_OK && image->stop.ask_stacks)
		threads.code.at.back = mu_remote_code_back(image->job.pid);
	if (status == MU_OK) {
		image->stop.held = stopped_before(&threads);
		enter_phase(collector, PHASE_READY);
		if (await_gate(collector) == GATE_LEAVE)
			mu_sys_exit(0);
		status = capture(collector, &threads, &files);
	} else {
		/* Another try would wait as long: no stop has expired. */
		image->stop.until_ns = image->job.deadline_ns;
	}
	collector->status = status;
	mu_sys_exit(status == MU_OK ? 0 : 1);
}

/* Time limits of the collector, and whether we had to kill it. */
struct life {
	uint64_t limit_ns;
	bool killed;
	uint64_t stuck_ns; /* how long it may be in uninterruptible sleep */
	bool stuck;        /* it slept longer */
};

/*
 * A fork of memory that is registered with a userfaultfd waits until its events
 * have been read, perhaps by a thread that is stopped. Once the stop has used
 * up its time, check the collector for that.
 */
static bool
is_stuck(const struct mu_image *image, struct life *life, uint64_t now)
{
	if (now < image->stop.until_ns || image->stop.until_ns == 0)
		return false;
	if (life->stuck_ns == 0 ||
	    mu_proc_state(image->stop.collector, image->stop.collector) != 'D')
		life->stuck_ns = now + STUCK_NS;
	return now >= life->stuck_ns ||
	    mu_proc_sleeps_in(image->stop.collector, "userfaultfd_");
}

/*
 * A signal has stopped it, and the threads are stopped until it goes on. If it
 * is killed they continue, and another stop is tried.
 */
static bool
is_halted(const struct mu_image *image, int phase, uint64_t now)
{
	pid_t pid = image->stop.collector;

	return (phase == PHASE_READY || phase == PHASE_TAKEN) &&
	    image->stop.until_ns != 0 && now >= image->stop.until_ns &&
	    mu_proc_state(pid, pid) == 'T';
}

/* Wait while it is in PHASE. Returns the next phase. */
static int
await_phase(struct collector *collector, int phase, struct life *life)
{
	const struct mu_image *image = collector->image;
	uint64_t now;
	int next;

	while ((next = __atomic_load_n(&collector->phase, __ATOMIC_ACQUIRE)) ==
	    phase) {
		now = mu_sys_now_ns();
		life->stuck |= phase == PHASE_READY && !life->killed &&
		    is_stuck(image, life, now);
		if (!life->killed &&
		    (now >= life->limit_ns || life->stuck ||
			is_halted(image, phase, now))) {
			mu_sys_kill(image->stop.collector, SIGKILL);
			life->killed = true;
		}
		mu_sys_futex_wait(&collector->phase, phase, 0, now + SLICE_NS);
	}
	return next;
}

static void
open_gate(struct collector *collector)
{
	enum mu_status status = mu_allocator_freeze(collector->image);

	if (status != MU_OK)
		collector->status = status;
	mu_sys_futex_set(&collector->gate,
	    status == MU_OK ? GATE_GO : GATE_LEAVE, 1, FUTEX_PRIVATE_FLAG);
}

/* How long the threads were stopped by a collector that was killed. */
static uint64_t
paused_ns(const struct mu_image *image)
{
	return mu_sys_now_ns() - image->stop.until_ns +
	    mu_library.options.max_pause * MU_NS_PER_MS;
}

/*
 * Malloc is frozen from the time when the collector is ready until it has an
 * image.
 */
static void
attend(struct collector *collector)
{
	struct mu_image *image = collector->image;
	struct life life = { .limit_ns = image->job.deadline_ns + GRACE_NS };
	int phase, status = 0;

	phase = await_phase(collector, image->stop.collector, &life);
	if (phase == PHASE_READY) {
		open_gate(collector);
		phase = await_phase(collector, PHASE_READY, &life);
		mu_allocator_thaw(image);
	}
	if (phase == PHASE_TAKEN)
		await_phase(collector, PHASE_TAKEN, &life);
	while (mu_sys_wait(image->stop.collector, &status, MU_WALL) == -EINTR)
		continue;
	/* An expired deadline has its own status. */
	if (collector->status != MU_ERR_HELPER_DIED)
		return;
	if (life.stuck) {
		mu_image_paused(image, paused_ns(image));
		collector->status = mu_why(&image->job.why, MU_ERR_BUSY,
		    "a fork of this process waits, mostly for a thread that"
		    " reads the events of a userfaultfd" MU_CURE
		    "memunreachable -p"
		    " can read the process instead");
	} else if (life.killed)
		collector->status = mu_why(&image->job.why, MU_ERR_TIMEOUT,
		    "the collector did not finish in time");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		collector->status = mu_refusal_by_sigsys(&image->job.why);
	else
		mu_why_died(&image->job.why, "the collector", status);
}

/*
 * With ptrace_scope 1 Yama lets only ancestors trace a process. The collector
 * is a child, so the program must name it (PR_SET_PTRACER). A tracer that the
 * program had named cannot be read back and is lost, so this is tried second.
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
run_once(struct mu_image *image, bool named)
{
	struct collector collector = {
		.image = image,
		.phase = -1,
		.gate = GATE_SHUT,
		.status = MU_ERR_HELPER_DIED,
	};
	long pid;

	mu_why(&image->job.why, MU_ERR_HELPER_DIED, "the collector died");
	pid = mu_arch_clone(CLONE_VM | CLONE_UNTRACED | CLONE_PARENT_SETTID |
		CLONE_CHILD_CLEARTID,
	    image->stack + image->stack_size, &collector.phase, collector_body,
	    &collector);
	if (pid < 0)
		return mu_why(&image->job.why, mu_status_from_errno((int)-pid),
		    "cannot start the collector (errno %ld)", -pid);
	image->stop.collector = (pid_t)pid;
	if (named)
		mu_sys2(SYS_prctl, PR_SET_PTRACER, pid);
	attend(&collector);
	image->stop.held = 0;
	if (named)
		mu_sys2(SYS_prctl, PR_SET_PTRACER, 0);
	return collector.status;
}

enum mu_status
mu_collector_run(struct mu_image *image)
{
	enum mu_status status = run_once(image, false);

	if (status == MU_ERR_PTRACE_YAMA && yama_wants_a_name())
		status = run_once(image, true);
	return status;
}
