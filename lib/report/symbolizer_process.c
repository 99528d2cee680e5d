/*
 * Both share the program's memory, TLS and errno included, until the execve():
 * raw system calls only.
 */
#include "lib/report/symbolizer_process.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "mu/signal_action.h"
#include "mu/sys.h"

#define HALF ((size_t)64 << 10) /* for the child; above it, the attendant */
#define STACK_SIZE (MU_STACK_GUARD + 2 * HALF)
#define SIGNALS 64
#define NAP_NS (1000 * 1000ull)
#define GRACE_NS (2 * MU_NS_PER_SEC) /* after the deadline */
#define DESCRIPTORS_MAX (1 << 16)

/*
 * The first of the two processes to get here closes it: they share the table of
 * descriptors.
 */
static void
close_descriptor(struct mu_symbolizer_process *process)
{
	int fd =
	    __atomic_exchange_n(&process->descriptor, -1, __ATOMIC_ACQ_REL);

	mu_sys_close(&fd);
}

static void
close_from(unsigned first)
{
	struct rlimit64 limit = { 0, 0 };

	if (mu_sys3(SYS_close_range, first, ~0u, 0) == 0)
		return;
	/* close_range() exists since Linux 5.9. */
	mu_sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit);
	if (limit.rlim_cur > DESCRIPTORS_MAX)
		limit.rlim_cur = DESCRIPTORS_MAX;
	for (; first < limit.rlim_cur; first++)
		mu_sys1(SYS_close, first);
}

/* The socket may be one of 0 to 2 itself, if these were closed. */
static bool
lay_descriptors(int fd)
{
	int null;

	fd = (int)mu_sys3(SYS_fcntl, fd, F_DUPFD, 3);
	if (fd < 0 || mu_sys3(SYS_dup3, fd, 0, 0) < 0 ||
	    mu_sys3(SYS_dup3, fd, 1, 0) < 0)
		return false;
	null = mu_sys_open("/dev/null", O_RDWR, 0);
	if (null < 0 || (null != 2 && mu_sys3(SYS_dup3, null, 2, 0) < 0))
		return false;
	close_from(3);
	return true;
}

/* Ignored signals would stay ignored after execve(). */
static void
reset_signals(void)
{
	const struct mu_signal_action usual = { .handler = (void *)SIG_DFL };
	const mu_sigmask none = 0;
	int signo;

	for (signo = 1; signo <= SIGNALS; signo++)
		mu_sys4(SYS_rt_sigaction, signo, (long)&usual, 0,
		    sizeof(mu_sigmask));
	mu_sys_restore_signals(&none);
}

/*
 * See lib/helpers/collector.c for the limit. Returns false if PARENT is gone
 * already.
 */
static bool
die_with(pid_t parent)
{
	static const struct rlimit64 no_core = { 1, 1 };

	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	mu_sys4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0);
	return mu_sys0(SYS_getppid) == parent;
}

static void
become_command(void *arg)
{
	static char *const words[] = { "memunreachable", "--symbolize", NULL };
	struct mu_symbolizer_process *process = arg;
	const struct mu_symbolizer *symbolizer = process->symbolizer;

	if (die_with(process->attendant) &&
	    lay_descriptors(process->descriptor)) {
		reset_signals();
		mu_sys3(SYS_execve, (long)symbolizer->path, (long)words,
		    (long)symbolizer->environment);
	}
	mu_sys_exit(127);
}

/* SIGCHLD is blocked here and is sent to this process only. */
static enum mu_symbolizer_end
await_child(const struct mu_symbolizer_process *process)
{
	const mu_sigmask awaited = mu_signal_bit(SIGCHLD);
	uint64_t now, limit_ns = process->deadline_ns;
	bool killed = false;
	struct timespec span;
	int status = -1;
	pid_t got;

	for (;;) {
		got = mu_sys_wait(process->child, &status, WNOHANG);
		if (got != 0 && got != -EINTR)
			break;
		now = mu_sys_now_ns();
		if (now >= limit_ns) {
			mu_sys_kill(process->child, SIGKILL);
			killed = true;
			limit_ns = now + MU_NS_PER_SEC;
		}
		span = mu_sys_timespec(limit_ns - now);
		if (mu_sys4(SYS_rt_sigtimedwait, (long)&awaited, 0, (long)&span,
			sizeof(awaited)) == -ENOSYS)
			mu_sys_sleep_ns(NAP_NS);
	}
	if (killed)
		return MU_SYMBOLIZER_LATE;
	return got > 0 && status == 0 ? MU_SYMBOLIZER_GOOD
				      : MU_SYMBOLIZER_FAILED;
}

/*
 * Runs in a separate process group: a signal that stops or interrupts the
 * program's group does not end the report. If SIGCHLD were ignored, the child
 * could not be waited for.
 */
static void
attend(void *arg)
{
	const struct mu_signal_action usual = { .handler = (void *)SIG_DFL };
	struct mu_symbolizer_process *process = arg;
	enum mu_symbolizer_end end = MU_SYMBOLIZER_FAILED;
	long pid;

	process->attendant = mu_sys_getpid();
	if (!die_with(process->original))
		mu_sys_exit(MU_SYMBOLIZER_FAILED);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-attendant");
	mu_sys2(SYS_setpgid, 0, 0);
	mu_sys_signal_action(SIGCHLD, &usual, NULL);
	pid = mu_arch_clone(CLONE_VM | CLONE_VFORK | CLONE_UNTRACED | SIGCHLD,
	    process->stack + MU_STACK_GUARD + HALF, &process->child,
	    become_command, process);
	close_descriptor(process);
	process->child = (pid_t)pid;
	if (pid > 0)
		end = await_child(process);
	mu_sys_exit((int)end);
}

bool
mu_symbolizer_process_start(struct mu_symbolizer_process *process)
{
	long stack = mu_sys_map_stack(STACK_SIZE), pid = stack;
	mu_sigmask mask;

	process->original = mu_sys_getpid();
	if (!mu_sys_failed(stack)) {
		process->stack = (char *)stack;
		/* No signal handler of the program may run in the child. */
		if (mu_sys_block_signals(&mask)) {
			pid = mu_arch_clone(
			    CLONE_VM | CLONE_FILES | CLONE_UNTRACED,
			    process->stack + STACK_SIZE, &process->attendant,
			    attend, process);
			mu_sys_restore_signals(&mask);
		} else
			pid = -EPERM;
		if (pid < 0)
			mu_sys_munmap(process->stack, STACK_SIZE);
	}
	if (pid < 0)
		close_descriptor(process);
	else
		process->attendant = (pid_t)pid;
	return pid > 0;
}

enum mu_symbolizer_end
mu_symbolizer_process_end(struct mu_symbolizer_process *process)
{
	int status = -1;
	pid_t got = mu_sys_wait(process->attendant, &status, MU_WALL | WNOHANG);

	if (got == 0 || got == -EINTR) {
		/*
		 * The attendant still runs; after the grace period it is
		 * assumed to be stopped by a signal.
		 */
		if (mu_sys_now_ns() >= process->deadline_ns + GRACE_NS)
			mu_sys_kill(process->attendant, SIGKILL);
		return MU_SYMBOLIZER_RUNS;
	}
	close_descriptor(process);
	/* wait4() is refused: it may still use its stack. */
	if (got < 0 && got != -ECHILD)
		mu_sys_kill(process->attendant, SIGKILL);
	else
		mu_sys_munmap(process->stack, STACK_SIZE);
	if (got > 0 && WIFEXITED(status) &&
	    WEXITSTATUS(status) < MU_SYMBOLIZER_RUNS)
		return (enum mu_symbolizer_end)WEXITSTATUS(status);
	return MU_SYMBOLIZER_FAILED;
}
