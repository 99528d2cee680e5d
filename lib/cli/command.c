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
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/cli_values.h"
#include "lib/cli/command_answer.h"
#include "lib/cli/command_environment.h"
#include "lib/cli/command_file.h"
#include "lib/cli/command_report.h"
#include "lib/cli/command_trace.h"
#include "lib/cli/exit_status.h"
#include "lib/cli/library_path.h"
#include "mu/sys.h"
#include "ptrace/proc.h"

#define LIVE_NS 200000000 /* between two looks for a report, with --signal */

/* Whose options, as Android has it; and its name here. */
#define RECORDER "LIBC_DEBUG_MALLOC_OPTIONS"
#define RECORDER_ALIAS "MEMUNREACHABLE_MALLOC_DEBUG"

struct run {
	const struct mu_command *command;
	const struct mu_cli_options *options;
	struct mu_command_end *end;
	struct mu_command_report report;
	struct mu_trace trace;
	pid_t pid;
	bool outside; /* no library goes into it: it has to be traced */
	struct mu_why outside_why;
	bool traced;  /* otherwise its library reports alone */
	bool ended;   /* the command itself has */
	bool checked; /* and there is an answer of it */
	char path[PATH_MAX], library[PATH_MAX];
	char recorder[PATH_MAX];   /* "": not asked for */
	char program[PATH_MAX];    /* that it was at its end; "": not known */
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
become(struct run *run, int error_fd, int go_fd)
{
	const struct mu_cli_options *options = run->options;
	char *preload = mu_command_environment_preload(
	    getenv("LD_PRELOAD"), run->recorder, run->library);
	char traced = 0, *words;

	/* We are traced by now, or will not be. */
	if (read(go_fd, &traced, 1) != 1)
		_exit(127);
	words = mu_command_environment_options(getenv("MEMUNREACHABLE_OPTIONS"),
	    options, run->report.path, traced ? run->report.answers : NULL,
	    options->children ? 0 : getpid());
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
 * Signals are taken one by one by sigtimedwait(). Faults of our own stay ours.
 * A terminal's stop is for the command, which may have to restore the terminal
 * first: it cannot do so while its tracer is stopped, so we stop when it has.
 */
static void
take_signals(struct run *run)
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

/*
 * The terminal has stopped the command: the shell waits for us. What continues
 * us continues it, too.
 */
static void
stop_as_well(struct run *run)
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

/* All that has happened to the command and what it started. */
static void
take_events(struct run *run)
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

/* Processes that the command started and that live on; see --children. */
static bool
tell_remaining(struct run *run)
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
take_signal(struct run *run, const siginfo_t *info)
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

static void
await_end(struct run *run)
{
	bool looks = run->command->live && run->options->signal != 0;
	struct timespec until = { 0, LIVE_NS };
	bool waits, told = false;
	sigset_t awaited;
	siginfo_t info;

	sigprocmask(SIG_BLOCK, NULL, &awaited);
	for (;;) {
		take_events(run);
		if (run->ended && !told && !tell_remaining(run))
			return;
		told = run->ended;
		if (run->ended && mu_trace_any(&run->trace) == 0)
			return;
		if (run->trace.stop_signal != 0) {
			stop_as_well(run);
			continue;
		}
		waits = looks || run->trace.hurry_ns != 0;
		if (sigtimedwait(&awaited, &info, waits ? &until : NULL) > 0)
			take_signal(run, &info);
		if (run->trace.hurry_ns != 0 &&
		    mu_sys_now_ns() >= run->trace.hurry_ns) {
			take_events(run);
			mu_trace_hurry(&run->trace);
		}
		if (looks)
			mu_command_report_show(
			    &run->report, run->pid, run->command->log);
	}
}

/* A process has reached its end: trace.ended. */
static void
take_end(void *ctx, const struct mu_threads *threads, size_t missed, int status)
{
	struct run *run = ctx;
	struct mu_check check = run->command->check;
	struct mu_command_end *end = run->end;
	struct mu_answer answer;

	(void)status;
	check.pid = threads->pid;
	mu_command_report_show(&run->report, threads->pid, run->command->log);
	mu_command_answer(
	    &check, run->report.answers, threads, missed, &answer);
	switch (mu_exit_status(&answer.info)) {
	case MU_EXIT_LEAKS:
		end->leaks = true;
		break;
	case MU_EXIT_PARTIAL:
		end->partial = true;
		end->partial_leaks |= answer.info.num_leaks > 0;
		break;
	case MU_EXIT_CLEAN:
		break;
	default:
		end->unchecked = true;
		break;
	}
	if (threads->pid == run->pid) {
		run->checked = true;
		snprintf(
		    run->program, sizeof(run->program), "%s", answer.program);
	}
	run->command->show(run->command->ctx, &answer);
	mu_check_release(&answer);
}

/* trace.became */
static void
take_exec(void *ctx, pid_t pid)
{
	struct run *run = ctx;

	mu_command_answer_drop(run->report.answers, pid);
}

/*
 * A library alone writes text, and tells of leaks by the exit status of the
 * process that has them.
 */
static void
refuse_untraced(struct run *run, int error)
{
	const struct mu_cli_options *options = run->options;

	if (run->outside ||
	    (!options->children && options->format != MU_CLI_JSON))
		return;
	run->outside = true;
	mu_why(&run->outside_why, MU_ERR_ARGUMENT,
	    "nothing can be traced here (%s), which %s needs; allow ptrace(2),"
	    " or leave it out",
	    strerror(error),
	    options->children ? "--children" : "--format=json");
}

/* Before it becomes its program: whether it is traced says its environment. */
static void
begin_trace(struct run *run, int go_fd)
{
	char traced;
	long error;

	run->trace = (struct mu_trace) {
		.command = run->pid,
		.children = run->options->children,
		.ended = take_end,
		.became = take_exec,
		.ctx = run,
	};
	error = mu_trace_begin(&run->trace);
	run->traced = error == 0;
	traced = run->traced;
	if (!traced)
		refuse_untraced(run, (int)-error);
	if ((run->outside && !traced) || write(go_fd, &traced, 1) < 0)
		kill(run->pid, SIGKILL);
}

/* The end of a process that could not become its command. */
static void
drop(struct run *run)
{
	int status;

	while (waitpid(run->pid, &status, __WALL) == run->pid &&
	    WIFSTOPPED(status))
		ptrace(PTRACE_CONT, run->pid, NULL, NULL);
}

/* MU_OK: run->pid is COMMAND now. */
static enum mu_status
start(struct run *run, struct mu_why *why)
{
	int errors[2] = { -1, -1 }, go[2] = { -1, -1 }, error = 0;

	if (pipe2(errors, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0 ||
	    (run->pid = fork()) < 0) {
		close(errors[0]);
		close(errors[1]);
		return mu_why(why, MU_ERR_RESOURCES,
		    "cannot start a process: %s", strerror(errno));
	}
	if (run->pid == 0) {
		close(go[1]);
		become(run, errors[1], go[0]);
	}
	close(errors[1]);
	close(go[0]);
	begin_trace(run, go[1]);
	close(go[1]);
	while (read(errors[0], &error, sizeof(error)) < 0 && errno == EINTR)
		continue;
	close(errors[0]);
	if (error == 0 && (run->traced || !run->outside))
		return MU_OK;
	drop(run);
	if (error == 0) {
		*why = run->outside_why;
		return MU_ERR_ARGUMENT;
	}
	return mu_why(why, MU_ERR_ARGUMENT, "cannot run %s: %s",
	    mu_cli_shown(run->path).text, strerror(error));
}

/* No report is no "no leaks". */
static void
explain_silence(const struct run *run, FILE *out)
{
	int status = run->end->wait_status;

	if (WIFSIGNALED(status))
		fprintf(out,
		    "memunreachable: not checked: the command was ended by"
		    " signal %d\n",
		    WTERMSIG(status));
	else if (run->traced)
		fprintf(out,
		    "memunreachable: not checked: the command's end was not"
		    " seen\n");
	else
		fprintf(out,
		    "memunreachable: not checked: the command ended by"
		    " _exit(2), or became a program that nothing can be"
		    " preloaded into, and it cannot be traced here%s\n",
		    run->options->children
			? ""
			: "; for the processes that it starts there is"
			  " --children");
}

/* Has PID what we have put into the environment of the command? */
static bool
has_our_environment(const struct run *run, pid_t pid)
{
	char path[64], *text = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!found && getdelim(&text, &size, '\0', file) > 0)
		found = strncmp(text, "MEMUNREACHABLE_OPTIONS=", 23) == 0 &&
		    strstr(text, run->report.folder) != NULL;
	free(text);
	fclose(file);
	return found;
}

static bool
tell_copy(void *ctx, int pid)
{
	struct run *run = ctx;
	char path[64], program[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	if (length <= 0 || strcmp(program, run->program) != 0 ||
	    !has_our_environment(run, pid))
		return true;
	fprintf(stderr,
	    "memunreachable: not checked: the command goes on as process %d;"
	    " look at it by -p %d, or with --children at its end\n",
	    pid, pid);
	run->end->unchecked = true;
	return true;
}

/* A daemon is a copy of the command by fork(), which lives on. */
static void
tell_daemon(struct run *run)
{
	if (run->program[0] != '\0')
		mu_proc_numbers("/proc", tell_copy, run);
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
	if (status != MU_OK)
		return status;
	status = mu_command_file_check(run->path, why);
	run->outside = status == MU_PARTIAL;
	if (run->outside) {
		run->outside_why = *why;
		status = MU_OK;
	}
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
mu_command_run(const struct mu_command *command, struct mu_command_end *end,
    struct mu_why *why)
{
	struct run run = {
		.command = command,
		.options = command->options,
		.end = end,
	};
	enum mu_status status = prepare(&run, why);

	*end = (struct mu_command_end) { 0 };
	if (status == MU_OK) {
		take_signals(&run);
		status = start(&run, why);
	}
	if (status == MU_OK) {
		await_end(&run);
		if (!run.options->children)
			tell_daemon(&run);
		run.checked |= mu_command_report_show_all(
				   &run.report, run.pid, command->log) &&
		    !run.traced;
		end->unchecked |= !run.checked;
		if (!run.checked)
			explain_silence(&run, stderr);
	}
	mu_trace_close(&run.trace);
	mu_command_report_end(&run.report);
	return status;
}

/* A crash, or SIGKILL: the command has failed, whatever was found in it. */
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

int
mu_command_status(
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
	int status = mu_command_status(options, end);
	const struct rlimit none = { 0, 0 };
	struct sigaction usual = { 0 };
	sigset_t mask;

	if (status >= 0)
		return status;
	if (WIFEXITED(end->wait_status))
		return WEXITSTATUS(end->wait_status);
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
