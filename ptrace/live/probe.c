#include "ptrace/live/probe.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "mu/arch/signal_frame.h"
#include "mu/procfs.h"
#include "mu/signal_action.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"

#define FIRST_NAP_NS (20 * 1000ull)
#define LAST_NAP_NS (10 * 1000 * 1000ull)

/*
 * The number after KEY in the calling thread's status file: each thread has its
 * own filters.
 */
static int64_t
own_number(const char *key)
{
	char status[MU_PROC_STATUS_SIZE];

	if (mu_proc_own_status(status, sizeof(status)) < 0)
		return -1;
	return mu_proc_status_number(status, key, 0, 10);
}

/* "5.10.0-33-amd64" */
static bool
kernel_is_before(unsigned major, unsigned minor)
{
	struct utsname name = { .release = "" };
	uint64_t numbers[2] = { 0, 0 };
	const char *at = name.release, *end;

	if (mu_sys1(SYS_uname, (long)&name) < 0)
		return true;
	end = at + strlen(at);
	if (!mu_proc_number(&at, end, 10, &numbers[0]) || at == end ||
	    *at++ != '.' || !mu_proc_number(&at, end, 10, &numbers[1]))
		return true;
	return numbers[0] < major ||
	    (numbers[0] == major && numbers[1] < minor);
}

/*
 * A limit of 1 also prevents a core dump through a pipe: do_coredump() in
 * fs/coredump.c. It cannot be set where the hard limit is 0.
 */
static void
leave_no_core(void)
{
	const struct rlimit64 no_core = { 1, 1 };

	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	mu_sys4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0);
}

static void
try_ptrace(void)
{
	mu_sys_ptrace(PTRACE_SEIZE, MU_REFUSAL_NO_TID, 0, 0);
}

static void
rehearse(int signo)
{
	uintptr_t bases[MU_FRAME_BASES];

	(void)signo;
	mu_frame_bases(bases);
}

/*
 * Do, in a process with one thread, what a stop by signal does, and one by a
 * tracer that is asked by a signal: all system calls that no other step makes.
 */
static void
try_signal_stop(void)
{
	const struct mu_signal_action action = {
		.handler = (void *)rehearse,
		.flags = SA_RESTART | SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
	};
	const mu_sigmask others = ~mu_signal_bit(SIGURG);
	pid_t pid = mu_sys_getpid();
	siginfo_t info = { 0 };
	mu_sigmask pending;

	mu_sys2(SYS_rt_sigpending, (long)&pending, sizeof(pending));
	info.si_signo = SIGURG;
	info.si_code = SI_QUEUE;
	info.si_pid = pid;
	mu_sys_signal_action(SIGURG, &action, NULL);
	mu_sys4(SYS_rt_tgsigqueueinfo, pid, pid, SIGURG, (long)&info);
	mu_sys3(SYS_tgkill, pid, pid, SIGURG);
	mu_sys_restore_signals(&others);
}

/*
 * Reap PID. Returns its wait status, or -errno; -ETIMEDOUT if we had to kill
 * it.
 */
static int
await_end(pid_t pid, uint64_t deadline_ns)
{
	uint64_t nap = FIRST_NAP_NS;
	bool killed = false;
	int status = -1;
	pid_t got;

	for (;;) {
		got = mu_sys_wait(pid, &status, MU_WALL | WNOHANG);
		if (got == pid)
			return killed ? -ETIMEDOUT : status;
		if (got < 0 && got != -EINTR)
			return got;
		if (!killed && mu_sys_now_ns() >= deadline_ns) {
			mu_sys_kill(pid, SIGKILL);
			killed = true;
		}
		mu_sys_sleep_ns(nap);
		if (nap < LAST_NAP_NS)
			nap *= 2;
	}
}

/*
 * *DONE is in shared memory: a thread of the program that waits with __WALL may
 * get the child and its status.
 */
static int
attempt_in_child(void (*attempt)(void), uint64_t deadline_ns, int *done)
{
	mu_sigmask mask;
	long pid;
	int end;

	mu_sys_block_signals(&mask);
	pid = mu_syscall6(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0, 0);
	if (pid == 0) {
		leave_no_core();
		attempt();
		__atomic_store_n(done, 1, __ATOMIC_RELEASE);
		mu_sys_exit(0);
	}
	mu_sys_restore_signals(&mask);
	if (pid < 0)
		return (int)pid;
	end = await_end((pid_t)pid, deadline_ns);
	return end == -ECHILD && __atomic_load_n(done, __ATOMIC_ACQUIRE) != 0
	    ? 0
	    : end;
}

/*
 * Returns what await_end() does. Signals are blocked: a handler of the program
 * must not run in the child.
 */
static int
try_in_child(void (*attempt)(void), uint64_t deadline_ns)
{
	const size_t size = sizeof(int);
	long page = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
	int end;

	if (mu_sys_failed(page))
		return (int)page;
	end = attempt_in_child(attempt, deadline_ns, (int *)page);
	mu_sys_munmap((void *)page, size);
	return end;
}

/*
 * Read the calling thread's namespace link, as threads of one process can
 * differ. Returns its bytes or -errno.
 */
static long
read_namespace(const char *name, char *link, size_t size)
{
	char path[64];
	const char *at = path;
	int dir;

	mu_text_format(path, sizeof(path), "/proc/self/task/%d/ns/%s",
	    mu_sys_gettid(), name);
	dir = mu_procfs_at(&at);
	return mu_sys4(SYS_readlinkat, dir, (long)at, (long)link, (long)size);
}

/*
 * fs/proc/namespaces.c: for_children exists since Linux 4.12, and cannot be
 * read (ENOENT) until the new namespace has its first process.
 */
bool
mu_probe_helpers_stay(void)
{
	char own[64] = "", next[64] = "";
	long n = read_namespace("pid", own, sizeof(own));

	if (n <= 0)
		return true;
	if (read_namespace("pid_for_children", next, sizeof(next)) == -ENOENT)
		return kernel_is_before(4, 12);
	return next[0] == '\0' || memcmp(own, next, (size_t)n) == 0;
}

bool
mu_probe_kills(bool always, uint64_t deadline_ns)
{
	if (!always &&
	    (!kernel_is_before(5, 16) || own_number("\nSeccomp:") == 0))
		return false;
	return try_in_child(try_ptrace, deadline_ns) != 0;
}

enum mu_status
mu_probe_signal_stop(uint64_t deadline_ns, struct mu_why *why)
{
	int end;

	if (own_number("\nSeccomp:") <= 0)
		return MU_OK;
	end = try_in_child(try_signal_stop, deadline_ns);
	if (end == 0)
		return MU_OK;
	/*
	 * If rt_sigreturn() is refused, the thread cannot return from the
	 * handler.
	 */
	if (end > 0 && WIFSIGNALED(end) &&
	    (WTERMSIG(end) == SIGSYS || WTERMSIG(end) == SIGSEGV))
		return mu_why(why, MU_ERR_NO_PERMISSION,
		    "a seccomp filter kills a thread that sends or handles a signal" MU_CURE
		    "allow rt_tgsigqueueinfo, rt_sigreturn, arch_prctl");
	if (end >= 0)
		return mu_why_died(why, "the child that tries signals", end);
	return mu_why(why, mu_status_from_errno(-end),
	    "cannot try signals in a child (errno %d)", -end);
}
