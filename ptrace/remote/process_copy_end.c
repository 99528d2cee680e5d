/*
 * A copy of a process ends, and is reaped by its parent: see process_copy.h.
 */
#include "ptrace/remote/process_copy_end.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/wakeup.h"
#include "ptrace/remote/remote_call.h"

/* How long to wait for a thread to stop before another one is tried. */
#define STOP_NS (20 * 1000 * 1000ull)

/*
 * Delay between two rounds. No thread can be stopped during an execve(); a
 * restartable sequence has ended by then.
 */
#define NAP_NS (2 * 1000 * 1000ull)
#define ROUNDS 20 /* rounds if threads are refused */

#define MAX_REFUSED 16 /* threads refused in a round */

struct reaping {
	const struct mu_process_copy *copy;
	pid_t pid;
	bool quiet; /* skip threads that would notice the stop */
	int refused;
	uint64_t deadline_ns;
	enum mu_status status;
	struct mu_why *why;
};

/* Calls that are restarted after a stop without an effect on the program. */
static const long restarted[] = {
	SYS_futex,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_restart_syscall,
	SYS_ppoll,
	SYS_pselect6,
	SYS_wait4,
#ifdef SYS_poll
	SYS_poll,
	SYS_select,
#endif
};

#define MAX_LEFT 8 /* per call; each needs a stop of a thread */

/* A thread has few children, and its first ones are the oldest. */
#define LIST_SIZE 4096

struct leftovers {
	pid_t pid;
	pid_t found[MAX_LEFT];
	size_t count;
};

/*
 * Copies that were left behind.
 */

/*
 * True for a zombie child of PID that has the name that only we set, and no
 * tracer that would reap it.
 */
static bool
is_left(pid_t pid)
{
	static const char name[] = "Name:\t" MU_REMOTE_COPY "\n";
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_status_read(pid, 0, status, sizeof(status)) > 0 &&
	    strncmp(status, name, sizeof(name) - 1) == 0 &&
	    strstr(status, "\nState:\tZ") != NULL &&
	    mu_proc_status_number(status, "\nTracerPid:", 0, 10) == 0;
}

/* Parse "17 18 4711 ", the children that thread TID has started. */
static bool
visit_left(void *ctx, int tid)
{
	struct leftovers *left = ctx;
	char path[64], text[LIST_SIZE];
	const char *at = text;
	uint64_t child;
	ssize_t n;

	mu_text_format(
	    path, sizeof(path), "/proc/%d/task/%d/children", left->pid, tid);
	n = mu_procfs_read(path, text, sizeof(text));
	while (left->count < MAX_LEFT && n > 0 &&
	    mu_proc_number(&at, text + n, 10, &child)) {
		if (is_left((pid_t)child))
			left->found[left->count++] = (pid_t)child;
		at += at < text + n;
	}
	return left->count < MAX_LEFT;
}

static struct leftovers
find_left(pid_t pid)
{
	struct leftovers left = { .pid = pid };
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	mu_proc_numbers(path, visit_left, &left);
	return left;
}

bool
mu_process_copy_any_left(pid_t pid)
{
	return find_left(pid).count > 0;
}

void
mu_process_copy_drop_left(pid_t pid, uintptr_t back, uint64_t deadline_ns)
{
	const struct leftovers left = find_left(pid);
	struct mu_process_copy copy;
	size_t i;

	for (i = 0; i < left.count; i++) {
		copy = (struct mu_process_copy) {
			.pid = left.found[i],
			.child = mu_proc_inner_pid(left.found[i]),
			.code = { .back = back },
		};
		mu_process_copy_reap_ended(&copy, pid, deadline_ns, NULL);
	}
}

/*
 * True if the thread is in its own code ("running" in the file) or in such a
 * call. Other calls, such as epoll_wait(), would fail with EINTR.
 */
static bool
is_quiet(pid_t pid, pid_t tid)
{
	long call = mu_proc_call(pid, tid);
	size_t i;

	for (i = 0; i < sizeof(restarted) / sizeof(restarted[0]); i++)
		if (call == restarted[i])
			return true;
	return call == MU_PROC_RUNNING;
}

/*
 * The leader may be a tracee already: a thread that we traced has taken its tid
 * by execve().
 */
static bool
seize(struct mu_tracee *tracee)
{
	long error = mu_tracee_seize(tracee);

	if (error == 0 || error == -EPERM)
		error = mu_tracee_interrupt(tracee);
	if (error == 0)
		tracee->state = MU_TRACEE_SEIZED;
	return error == 0;
}

/*
 * Stop TRACEE for the length of the call. If job control has stopped it, the
 * kernel stops it again at the release.
 */
static void
reap_by(struct reaping *reaping, struct mu_tracee *tracee)
{
	struct mu_threads threads = {
		.pid = reaping->pid,
		.tracees = tracee,
		.count = 1,
		.code = { .at = { .back = reaping->copy->code.back } },
		.lender = reaping->copy->lender,
	};
	uint64_t now = mu_sys_now_ns(), stop_ns = reaping->deadline_ns;
	char status[MU_PROC_STATUS_SIZE];
	struct mu_remote_thread thread;
	struct mu_wakeup wakeup;
	bool stopped;

	threads.filtered = mu_proc_status_read(reaping->pid, tracee->tid,
			       status, sizeof(status)) <= 0 ||
	    mu_pause_has_added_filter(
		status, mu_pause_first_filters(reaping->pid));
	if (!seize(tracee))
		return;
	if (reaping->deadline_ns > now + STOP_NS)
		stop_ns = now + STOP_NS;
	mu_wakeup_open(&wakeup, threads.lender);
	stopped = mu_tracee_await(tracee, reaping->pid, &wakeup, stop_ns);
	mu_wakeup_close(&wakeup);
	if (stopped &&
	    (tracee->state == MU_TRACEE_STOPPED ||
		tracee->state == MU_TRACEE_GROUP_STOPPED)) {
		reaping->status = mu_remote_thread_check(
		    &thread, &threads, tracee, reaping->why);
		if (reaping->status == MU_OK)
			reaping->status = mu_process_copy_reap(reaping->copy,
			    &thread, reaping->deadline_ns, reaping->why);
		else
			reaping->refused++;
	}
	mu_threads_release(&threads);
}

static bool
visit(void *ctx, int tid)
{
	struct reaping *reaping = ctx;
	struct mu_tracee tracee = { .tid = tid };

	if (reaping->quiet != is_quiet(reaping->pid, tid))
		return true;
	reap_by(reaping, &tracee);
	return reaping->status != MU_OK && reaping->refused < MAX_REFUSED &&
	    mu_sys_now_ns() < reaping->deadline_ns;
}

/* A process with another parent has the number of the copy again. */
static bool
is_reaped(const struct mu_process_copy *copy, pid_t pid)
{
	pid_t parent = mu_proc_parent(copy->pid);

	return mu_sys_kill(copy->pid, 0) == -ESRCH ||
	    (parent != 0 && parent != pid);
}

/* Two rounds: the first uses only threads that will not notice the stop. */
static void
reap_somewhere(struct reaping *reaping)
{
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task", reaping->pid);
	reaping->status = mu_why(reaping->why, MU_ERR_BUSY,
	    "no thread of process %d could be stopped to reap its copy %d",
	    reaping->pid, reaping->copy->pid);
	reaping->refused = 0;
	reaping->quiet = true;
	mu_proc_numbers(path, visit, reaping);
	reaping->quiet = false;
	if (reaping->status != MU_OK)
		mu_proc_numbers(path, visit, reaping);
}

static bool
is_exit_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT;
}

/*
 * A copy that has been killed stops at PTRACE_EVENT_EXIT, with its memory. The
 * memory is freed there (Linux 5.15): after exit_mm() the OOM killer no longer
 * counts the process, but its memory lives on while another process reads
 * /proc/PID/mem. In a full memory cgroup the OOM killer would then kill the
 * copied process, too.
 */
static void
pass_exit(pid_t pid)
{
	int fd = (int)mu_sys2(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		mu_sys2(SYS_process_mrelease, fd, 0);
	mu_sys_close(&fd);
	mu_sys_ptrace(PTRACE_CONT, pid, 0, 0);
}

/* WNOWAIT keeps the state (its end, or the stop before) for a later wait. */
bool
mu_process_copy_was_killed(const struct mu_process_copy *copy)
{
	siginfo_t info = { 0 };

	return copy->pid != 0 &&
	    (copy->ended ||
		mu_syscall6(SYS_waitid, P_PID, copy->pid, (long)&info,
		    WEXITED | WSTOPPED | WNOHANG | WNOWAIT | MU_WALL, 0,
		    0) < 0 ||
		info.si_pid == copy->pid);
}

bool
mu_process_copy_end(struct mu_process_copy *copy, uint64_t deadline_ns)
{
	struct mu_wakeup wakeup;
	int status = 0;
	pid_t got;

	if (copy->ended)
		return true;
	/*
	 * The copy may belong to another user, and CAP_SYS_PTRACE does not
	 * include CAP_KILL.
	 */
	if (mu_sys_kill(copy->pid, SIGKILL) == -EPERM)
		mu_sys_ptrace(PTRACE_KILL, copy->pid, 0, 0);
	mu_wakeup_open(&wakeup, NULL);
	for (;;) {
		got = mu_sys_wait(copy->pid, &status, WNOHANG | MU_WALL);
		if (got == copy->pid && is_exit_stop(status)) {
			pass_exit(copy->pid);
			continue;
		}
		if (got != 0 || mu_sys_now_ns() >= deadline_ns)
			break;
		mu_wakeup_wait(deadline_ns);
	}
	mu_wakeup_close(&wakeup);
	copy->ended = got != 0;
	return copy->ended;
}

/* WNOHANG: the injected wait must not block the program. */
enum mu_status
mu_process_copy_reap(const struct mu_process_copy *copy,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why)
{
	struct mu_remote_call call = {
		.nr = SYS_wait4,
		.args = { (uintptr_t)copy->child, 0, WNOHANG | __WCLONE, 0 },
	};
	enum mu_status status =
	    mu_remote_call_make(&call, thread, deadline_ns, why);

	if (status == MU_OK && call.result != copy->child &&
	    call.result != -ECHILD)
		return mu_why(why, MU_ERR_BUSY,
		    "process %d did not reap its copy %d (%ld)",
		    thread->threads->pid, copy->pid, call.result);
	return status;
}

enum mu_status
mu_process_copy_reap_ended(const struct mu_process_copy *copy, pid_t pid,
    uint64_t deadline_ns, struct mu_why *why)
{
	struct reaping reaping = {
		.copy = copy,
		.pid = pid,
		.deadline_ns = deadline_ns,
		.why = why,
	};
	int rounds = 0;

	/*
	 * The process may have reaped it by a wait with __WALL, or init may be
	 * its parent by now.
	 */
	while (
	    rounds < ROUNDS && !is_reaped(copy, pid) && !mu_proc_is_over(pid)) {
		reap_somewhere(&reaping);
		if (reaping.status == MU_OK ||
		    reaping.status == MU_ERR_PTRACE_SECCOMP ||
		    mu_sys_now_ns() >= deadline_ns)
			break;
		rounds += reaping.refused > 0;
		mu_sys_sleep_ns(NAP_NS);
	}
	return is_reaped(copy, pid) || mu_proc_is_over(pid) ? MU_OK
							    : reaping.status;
}
