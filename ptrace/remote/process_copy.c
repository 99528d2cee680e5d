/*
 * Runs in: keeper.
 */
#include "ptrace/remote/process_copy.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "mu/arch/remote.h"
#include "mu/arch/return.h"
#include "mu/arch/seccomp.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/wakeup.h"
#include "ptrace/remote/process_copy_end.h"
#include "ptrace/remote/remote_thread.h"

#define NOTE_PRSTATUS 1

#ifndef PTRACE_O_EXITKILL
#define PTRACE_O_EXITKILL (1 << 20)
#endif

/*
 * No exit signal: otherwise the process's waitpid(-1) would see the copy.
 * CLONE_FILES: a separate table would keep open what the process closes, and
 * epoll would go on reporting it. Not CLONE_FS: a set-user-ID program gets no
 * rights if the folder is shared (check_unsafe_exec in fs/exec.c).
 *
 * If we are killed before the copy has its name and PTRACE_O_EXITKILL is set,
 * the copy runs the frames on its stack, with all signals blocked: it sets its
 * name and exits.
 */
#define COPY_FLAGS (CLONE_PTRACE | CLONE_FILES | CLONE_PARENT_SETTID)

#define FIRST_OPTIONS (PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD)
#define COPY_OPTIONS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT)

#define CLOSE_UNSHARED 2 /* CLOSE_RANGE_UNSHARE of linux/close_range.h */

static bool
namespace_of(pid_t tid, const char *name, struct stat *stat)
{
	char path[64];
	const char *at = path;
	int dir;

	mu_text_format(path, sizeof(path), "/proc/%d/ns/%s", tid, name);
	dir = mu_procfs_at(&at);
	return mu_sys4(SYS_newfstatat, dir, (long)at, (long)stat, 0) == 0;
}

/*
 * After unshare(CLONE_NEWPID) the next child is the init of a new namespace,
 * which ends with it; after unshare(CLONE_NEWTIME) the next child fixes the
 * clocks of the new namespace. The copy must not be that child.
 */
static bool
is_first_of_namespace(pid_t tid)
{
	static const char *const names[][2] = { { "pid", "pid_for_children" },
		{ "time", "time_for_children" } };
	struct stat own = { 0 }, next = { 0 };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (namespace_of(tid, names[i][0], &own) &&
		    (!namespace_of(tid, names[i][1], &next) ||
			own.st_ino != next.st_ino))
			return true;
	return false;
}

static enum mu_status
refused(pid_t pid, long result, struct mu_why *why)
{
	if (result == -EAGAIN)
		return mu_why(why, MU_ERR_RESOURCES,
		    "process %d may start no more processes, so it cannot be"
		    " copied" MU_CURE
		    "raise RLIMIT_NPROC or the cgroup's pids.max",
		    pid);
	if (result == -ENOMEM)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for a copy of process %d" MU_CURE
		    "vm.overcommit_memory=1 would give it",
		    pid);
	return mu_why(why, mu_status_from_errno((int)-result),
	    "process %d cannot be copied (clone: errno %ld)", pid, -result);
}

/* Store the copy's PID before the thread may continue: see watchdog.c. */
static enum mu_status
start(struct mu_process_copy *copy, struct mu_remote_thread *thread,
    uint64_t fork_ns, uint64_t deadline_ns, struct mu_why *why)
{
	struct mu_remote_call call = {
		.nr = SYS_clone,
		.args = { COPY_FLAGS, mu_remote_return_child_stack(thread),
		    mu_remote_return_child_pid(thread) },
		.least_ns = fork_ns,
		.note = &copy->pid,
	};
	enum mu_status status =
	    mu_remote_call_make(&call, thread, deadline_ns, why);

	if (status == MU_OK && call.result < 0)
		return refused(thread->threads->pid, call.result, why);
	copy->child = (pid_t)call.result;
	if (status != MU_OK && copy->pid != 0)
		copy->child = mu_proc_inner_pid(copy->pid);
	copy->name = thread->way.at;
	copy->end = mu_remote_return_child_end(thread);
	return status;
}

enum mu_status
mu_process_copy_make(struct mu_process_copy *copy, struct mu_threads *threads,
    uint64_t fork_ns, uint64_t deadline_ns, struct mu_why *why)
{
	struct mu_remote_thread thread;
	enum mu_status status;

	*copy = (struct mu_process_copy) { .lender = threads->lender };
	status = mu_remote_thread_pick(&thread, threads, why);
	if (status != MU_OK)
		return status;
	if (is_first_of_namespace(thread.tracee->tid))
		return mu_why(why, MU_ERR_BUSY,
		    "process %d cannot be copied: its next child is the first"
		    " of a namespace",
		    threads->pid);
	copy->code = thread.code.at;
	return start(copy, &thread, fork_ns, deadline_ns, why);
}

/*
 * If the copy ever runs, it sets its name and exits. A failure to set that up
 * is ignored.
 */
static void
lead_to_name(const struct mu_process_copy *copy)
{
	const uintptr_t name[6] = { PR_SET_NAME, copy->name };
	uintptr_t general[MU_PRSTATUS_WORDS];
	struct iovec set = { general, sizeof(general) };

	if (mu_sys_ptrace(PTRACE_GETREGSET, copy->pid, NOTE_PRSTATUS,
		(uintptr_t)&set) < 0)
		return;
	mu_arch_remote_prepare(general, copy->code.call, SYS_prctl, name);
	mu_arch_return_after(general, &copy->code, copy->end);
	mu_sys_ptrace(
	    PTRACE_SETREGSET, copy->pid, NOTE_PRSTATUS, (uintptr_t)&set);
}

/* The copy is born stopped (ptrace_init_task). Wait for that stop only. */
enum mu_status
mu_process_copy_await_stop(const struct mu_process_copy *copy,
    uint64_t deadline_ns, struct mu_why *why)
{
	struct mu_tracee tracee = {
		.tid = copy->pid,
		.state = MU_TRACEE_SEIZED,
	};
	struct mu_wakeup wakeup;
	bool stopped;

	mu_wakeup_open(&wakeup, copy->lender);
	stopped = mu_tracee_await(&tracee, copy->pid, &wakeup, deadline_ns);
	mu_wakeup_close(&wakeup);
	if (!stopped)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the copy did not stop in time" MU_CURE "give it more time"
		    " (--timeout)");
	lead_to_name(copy);
	if (!mu_tracee_stopped(&tracee) ||
	    mu_sys_ptrace(PTRACE_SETOPTIONS, copy->pid, 0, FIRST_OPTIONS) < 0)
		return mu_why(why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	return MU_OK;
}

/* Where the copy is in the call that gives it its name. */
enum naming {
	UNDER_WAY,
	MADE,
	ASTRAY, /* about to make another call */
};

static enum naming
naming_of(const struct mu_process_copy *copy)
{
	struct mu_syscall_info info = { 0 };

	if (mu_sys_ptrace(MU_GET_SYSCALL_INFO, copy->pid, sizeof(info),
		(uintptr_t)&info) < 0 ||
	    info.op == MU_SYSCALL_EXIT)
		return MADE;
	if (info.op != MU_SYSCALL_ENTRY)
		return UNDER_WAY;
	return info.arch == MU_AUDIT_ARCH && info.entry.nr == SYS_prctl &&
		info.ip == copy->code.call + MU_CALL_CODE_SIZE
	    ? UNDER_WAY
	    : ASTRAY;
}

/*
 * Continue TRACEE until its next stop or its end. mu_tracee_await() would
 * interrupt it every millisecond, and on a busy machine a thread that gets a
 * CPU less often would make no progress.
 */
static bool
go_on(struct mu_tracee *tracee, struct mu_wakeup *wakeup, uint64_t deadline_ns)
{
	wakeup->slow = false;
	tracee->state = MU_TRACEE_SEIZED;
	if (mu_sys_ptrace(PTRACE_SYSCALL, tracee->tid, 0, 0) != 0)
		return false;
	while (!mu_tracee_look(tracee, tracee->tid)) {
		if (mu_sys_now_ns() >= deadline_ns)
			return false;
		mu_wakeup_await(wakeup, tracee->tid, deadline_ns);
	}
	return mu_tracee_stopped(tracee);
}

void
mu_process_copy_name(const struct mu_process_copy *copy, uint64_t deadline_ns)
{
	struct mu_tracee tracee = { .tid = copy->pid };
	enum naming naming = UNDER_WAY;
	struct mu_wakeup wakeup;
	siginfo_t info = { 0 };

	mu_wakeup_open(&wakeup, copy->lender);
	while (naming == UNDER_WAY && mu_sys_now_ns() < deadline_ns &&
	    go_on(&tracee, &wakeup, deadline_ns))
		naming = naming_of(copy);
	mu_wakeup_close(&wakeup);
	/* Its code was rewritten before it was copied (remote_call.c). */
	if (naming == ASTRAY)
		mu_sys_kill(copy->pid, SIGKILL);
	/* The next event of the copy is its end. */
	mu_syscall6(SYS_waitid, P_PID, tracee.tid, (long)&info,
	    WSTOPPED | WNOHANG | MU_WALL, 0, 0);
	mu_sys_ptrace(PTRACE_SETOPTIONS, tracee.tid, 0, COPY_OPTIONS);
}

/* The copy needs no return frames: it dies when we do. */
enum mu_status
mu_process_copy_call(const struct mu_process_copy *copy,
    struct mu_remote_call *call, uint64_t deadline_ns, struct mu_why *why)
{
	struct mu_tracee tracee = {
		.tid = copy->pid,
		.state = MU_TRACEE_STOPPED,
	};
	struct mu_threads threads = {
		.pid = copy->pid,
		.tracees = &tracee,
		.count = 1,
		.lender = copy->lender,
	};
	struct mu_remote_thread thread = {
		.threads = &threads,
		.tracee = &tracee,
		.code = { .at = copy->code },
		.options = COPY_OPTIONS,
	};
	struct iovec set = { thread.general, sizeof(thread.general) };

	if (mu_sys_ptrace(PTRACE_GETREGSET, copy->pid, NOTE_PRSTATUS,
		(uintptr_t)&set) < 0)
		return mu_why(why, MU_ERR_BUSY,
		    "the copy cannot be made to do a system call");
	return mu_remote_call_make(call, &thread, deadline_ns, why);
}

bool
mu_process_copy_leave_files(
    const struct mu_process_copy *copy, uint64_t deadline_ns)
{
	struct mu_remote_call call = {
		.nr = SYS_close_range,
		.args = { 0, ~0u, CLOSE_UNSHARED },
	};

	return mu_process_copy_call(copy, &call, deadline_ns, NULL) == MU_OK &&
	    call.result == 0;
}
