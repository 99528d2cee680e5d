/*
 * A COMMAND is run with the library in it: see command.h.
 *
 * Runs in: the command.
 */
#include "lib/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/cli_values.h"
#include "lib/cli/command_environment.h"
#include "lib/cli/command_file.h"
#include "lib/cli/command_report.h"
#include "lib/cli/exit_status.h"
#include "lib/cli/library_path.h"

#define LIVE_NS 200000000 /* between two looks for a report, with --signal */

/* Whose options, as Android has it; and its name here. */
#define RECORDER "LIBC_DEBUG_MALLOC_OPTIONS"
#define RECORDER_ALIAS "MEMUNREACHABLE_MALLOC_DEBUG"

struct run {
	const struct mu_cli_options *options;
	struct mu_command_report report;
	char path[PATH_MAX], library[PATH_MAX];
	char recorder[PATH_MAX];   /* "": not asked for */
	sigset_t before;           /* signals that were blocked */
	struct sigaction on_child; /* and what SIGCHLD did */
};

/* Exec fails after all, such as a script without an interpreter. */
static void
tell(int error_fd, int error)
{
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(127);
	_exit(127);
}

/* The recorder's other variable counts only where this one is not set. */
static const char *
earlier_recorder(void)
{
	const char *earlier = getenv(RECORDER);

	return earlier != NULL ? earlier : getenv(RECORDER_ALIAS);
}

static bool
record(const struct mu_cli_options *options)
{
	char *words =
	    mu_command_environment_recorder(earlier_recorder(), options);

	return words != NULL && setenv(RECORDER, words, 1) == 0;
}

static void
become(const struct run *run, int error_fd)
{
	const struct mu_cli_options *options = run->options;
	char *preload = mu_command_environment_preload(
	    getenv("LD_PRELOAD"), run->recorder, run->library);
	char *words =
	    mu_command_environment_options(getenv("MEMUNREACHABLE_OPTIONS"),
		options, run->report.path, options->children ? 0 : getpid());

	if (preload == NULL || words == NULL ||
	    setenv("LD_PRELOAD", preload, 1) != 0 ||
	    setenv("MEMUNREACHABLE_OPTIONS", words, 1) != 0 ||
	    (options->backtrace && !record(options)))
		tell(error_fd, ENOMEM);
	sigaction(SIGCHLD, &run->on_child, NULL);
	sigprocmask(SIG_SETMASK, &run->before, NULL);
	execv(run->path, options->command);
	tell(error_fd, errno);
}

/*
 * Signals are taken one by one by sigtimedwait(). Job control is left to the
 * kernel: a terminal stops both processes, and the shell waits for ours. Faults
 * of our own stay ours.
 */
static void
take_signals(struct run *run)
{
	static const int left[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV,
		SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
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
 * What the kernel sends, for a terminal, it sends to the COMMAND as well; and
 * SIGPIPE for a write of our own is ours.
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

static int
await_end(struct run *run, pid_t pid, FILE *out, bool live)
{
	bool looks = live && run->options->signal != 0;
	struct timespec until = { 0, LIVE_NS };
	sigset_t awaited;
	siginfo_t info;
	int status;

	sigprocmask(SIG_BLOCK, NULL, &awaited);
	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		if (sigtimedwait(&awaited, &info, looks ? &until : NULL) > 0)
			forward(pid, &info);
		if (looks)
			mu_command_report_show(&run->report, pid, out);
	}
}

/* The process that is COMMAND now; -1: it could not become it. */
static pid_t
start(const struct run *run, struct mu_why *why)
{
	int pipe_fds[2], error = 0;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
		mu_why(why, MU_ERR_RESOURCES, "cannot start a process: %s",
		    strerror(errno));
		return -1;
	}
	if (pid == 0)
		become(run, pipe_fds[1]);
	close(pipe_fds[1]);
	while (read(pipe_fds[0], &error, sizeof(error)) < 0 && errno == EINTR)
		continue;
	close(pipe_fds[0]);
	if (error == 0)
		return pid;
	waitpid(pid, NULL, 0);
	mu_why(why, MU_ERR_ARGUMENT, "cannot run %s: %s",
	    mu_cli_shown(run->path).text, strerror(error));
	return -1;
}

/* No report is no "no leaks". */
static void
explain_silence(const struct mu_cli_options *options, FILE *out, int status)
{
	if (WIFSIGNALED(status))
		fprintf(out,
		    "memunreachable: not checked: the command was ended by"
		    " signal %d\n",
		    WTERMSIG(status));
	else
		fprintf(out,
		    "memunreachable: not checked: the command ended by"
		    " _exit(2), or became a program that nothing can be"
		    " preloaded into%s\n",
		    options->children
			? ""
			: "; for the processes that it starts there is"
			  " --children");
}

/* What was set stays, and may do more, or cost more, than was asked for. */
static enum mu_status
prepare_recorder(struct run *run, struct mu_why *why)
{
	const char *earlier = earlier_recorder();

	if (earlier != NULL && earlier[0] != '\0' && !run->options->quiet)
		fprintf(stderr,
		    "memunreachable: the recorder also has the options of the"
		    " environment: %s\n",
		    mu_cli_shown(earlier).text);
	return mu_library_path_recorder(
	    run->recorder, sizeof(run->recorder), why);
}

static enum mu_status
prepare(struct run *run, struct mu_why *why)
{
	enum mu_status status;

	status = mu_command_file_find(run->options->command[0], getenv("PATH"),
	    run->path, sizeof(run->path), why);
	if (status == MU_OK)
		status = mu_command_file_check(run->path, why);
	if (status == MU_OK)
		status = mu_library_path_find(
		    run->library, sizeof(run->library), why);
	if (status == MU_OK && run->options->backtrace)
		status = prepare_recorder(run, why);
	if (status == MU_OK)
		status = mu_command_report_begin(&run->report, why);
	return status;
}

enum mu_status
mu_command_run(const struct mu_cli_options *options, FILE *out, bool live,
    struct mu_command_end *end, struct mu_why *why)
{
	struct run run = { .options = options };
	enum mu_status status = prepare(&run, why);
	pid_t pid;

	if (status != MU_OK)
		goto out;
	take_signals(&run);
	pid = start(&run, why);
	if (pid < 0) {
		status = MU_ERR_ARGUMENT;
		goto out;
	}
	end->wait_status = await_end(&run, pid, out, live);
	end->unchecked = !mu_command_report_show_all(&run.report, pid, out);
	if (end->unchecked)
		explain_silence(options, stderr, end->wait_status);
out:
	mu_command_report_end(&run.report);
	return status;
}

int
mu_command_pass_on(
    const struct mu_cli_options *options, const struct mu_command_end *end)
{
	int signo = WTERMSIG(end->wait_status);
	int status = WEXITSTATUS(end->wait_status);
	const struct rlimit none = { 0, 0 };
	struct sigaction usual = { 0 };
	sigset_t mask;

	if (WIFEXITED(end->wait_status))
		return status == 0 && end->unchecked && !options->unchecked_ok
		    ? MU_EXIT_UNCHECKED
		    : status;
	/* The COMMAND has left its own core file, if there is to be one. */
	setrlimit(RLIMIT_CORE, &none);
	usual.sa_handler = SIG_DFL;
	sigaction(signo, &usual, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	return 128 + signo; /* as shells say it */
}
