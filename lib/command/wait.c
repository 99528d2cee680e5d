/* Wait for a COMMAND, trace it and pass signals on: see run.h. */
#include "lib/command/run.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/command/command.h"
#include "lib/command/forked.h"
#include "lib/writers/exit_status.h"
#include "mu/sys.h"

#define LIVE_NS 200000000 /* interval of looking for reports, with --signal */

/* A crash or SIGKILL is a failure of the command even if leaks were found. */
static bool
is_failure(int signo)
{
	static const int failures[] = { SIGKILL, SIGSEGV, SIGABRT, SIGBUS,
		SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGQUIT, SIGXCPU, SIGXFSZ };
	size_t i;

	for (i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (failures[i] == signo)
			return true;
	}
	return false;
}

/*
 * The exit status for END: leaks come first, then processes that were not
 * checked, then partial answers; -1: use the command's status.
 */
static int
status_of(
    const struct mu_cli_options *options, const struct mu_command_end *end)
{
	bool ok = options->unchecked_ok;
	int status = end->wait_status;

	if (WIFSIGNALED(status) && is_failure(WTERMSIG(status)))
		return -1;
	if (end->leaks || (ok && end->partial_leaks))
		return options->exitcode;
	if (ok || (status != 0 && !end->partial_leaks))
		return -1;
	if (end->unchecked)
		return MU_EXIT_UNCHECKED;
	return end->partial ? MU_EXIT_PARTIAL : -1;
}

int
mu_command_pass_on(
    const struct mu_cli_options *options, const struct mu_command_end *end)
{
	int signo = WTERMSIG(end->wait_status);
	int status = status_of(options, end);
	const struct rlimit none = { 0, 0 };
	struct sigaction usual = { 0 };
	sigset_t mask;

	if (status >= 0)
		return status;
	if (WIFEXITED(end->wait_status))
		return WEXITSTATUS(end->wait_status);
	/* The COMMAND has written its own core file, if any. */
	setrlimit(RLIMIT_CORE, &none);
	usual.sa_handler = SIG_DFL;
	sigaction(signo, &usual, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	return 128 + signo; /* as shells do */
}

/*
 * Signals are taken by sigtimedwait(). Faults in our own code keep their
 * action. A terminal's stop signal is for the command, which may have to
 * restore the terminal first: it cannot while its tracer is stopped, so we stop
 * after it has.
 */
void
mu_command_take_signals(struct mu_command_run *run)
{
	static const int left[] = { SIGCONT, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
		SIGTRAP, SIGABRT, SIGSYS };
	struct sigaction usual = { 0 };
	sigset_t mask;
	size_t i;

	usual.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &usual, &run->on_child);
	sigfillset(&mask);
	for (i = 0; i < sizeof(left) / sizeof(*left); i++)
		sigdelset(&mask, left[i]);
	sigprocmask(SIG_BLOCK, &mask, &run->before);
}

/*
 * Signals from the kernel for a terminal reach the COMMAND as well; SIGPIPE is
 * for a write of our own.
 */
static void
forward(pid_t pid, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD || info->si_code > 0 ||
	    info->si_pid == getpid())
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, info->si_signo, info->si_value);
	else
		kill(pid, info->si_signo);
}

/*
 * The terminal has stopped the command, and the shell waits for us. The signal
 * that continues us is passed on.
 */
static void
stop_as_well(struct mu_command_run *run)
{
	int signo = run->trace.stop_signal;
	siginfo_t info = { 0 };
	sigset_t mask;

	run->trace.stop_signal = 0;
	sigemptyset(&mask);
	sigaddset(&mask, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (waitid(P_PID, (id_t)run->pid, &info,
		WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
	    info.si_pid == 0)
		kill(run->pid, SIGCONT);
}

/* Handle all pending events of the command and its children. */
static void
take_events(struct mu_command_run *run)
{
	pid_t tid;
	int status;

	while ((tid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (run->traced && mu_trace_take(&run->trace, tid, status))
			continue;
		if (tid != run->pid)
			continue;
		run->ended = true;
		run->end->wait_status = status;
	}
}

/* Report processes of the command that live on; see --children. */
static bool
report_remaining(struct mu_command_run *run)
{
	pid_t pid = mu_trace_any(&run->trace);

	if (pid != 0 && !run->options->quiet)
		fprintf(stderr,
		    "memunreachable: the command has ended; waiting for"
		    " process %d, which it started\n",
		    (int)pid);
	return pid != 0;
}

static void
take_signal(struct mu_command_run *run, const siginfo_t *info)
{
	pid_t left = mu_trace_any(&run->trace);

	if (!run->ended) {
		forward(run->pid, info);
		return;
	}
	if (info->si_signo != SIGINT && info->si_signo != SIGTERM &&
	    info->si_signo != SIGHUP && info->si_signo != SIGQUIT)
		return;
	fprintf(stderr,
	    "memunreachable: not checked: process %d still runs; it can be"
	    " looked at by -p %d\n",
	    (int)left, (int)left);
	run->end->unchecked = true;
	mu_trace_close(&run->trace);
}

/* How long to wait for the next event. */
static struct timespec
patience(bool looks, uint64_t expire_ns)
{
	uint64_t now = mu_sys_now_ns(), ns = LIVE_NS;

	if (expire_ns != 0 && (!looks || expire_ns < now + LIVE_NS))
		ns = expire_ns > now ? expire_ns - now : 0;
	return (struct timespec) { (time_t)(ns / MU_NS_PER_SEC),
		(long)(ns % MU_NS_PER_SEC) };
}

void
mu_command_await_end(struct mu_command_run *run)
{
	bool looks = run->command->live && run->options->signal != 0;
	uint64_t expire_ns = 0;
	struct timespec until;
	bool told = false;
	sigset_t awaited;
	siginfo_t info;

	sigprocmask(SIG_BLOCK, NULL, &awaited);
	for (;;) {
		mu_command_forked_take(run);
		take_events(run);
		if (run->ended && !told && !report_remaining(run))
			return;
		told = run->ended;
		if (run->ended && mu_trace_any(&run->trace) == 0)
			return;
		if (run->trace.stop_signal != 0) {
			stop_as_well(run);
			continue;
		}
		expire_ns = mu_trace_expire(&run->trace);
		until = patience(looks, expire_ns);
		if (sigtimedwait(&awaited, &info,
			looks || expire_ns != 0 ? &until : NULL) > 0)
			take_signal(run, &info);
		if (looks)
			mu_command_report_show(
			    &run->report, run->pid, run->command->log);
	}
}
