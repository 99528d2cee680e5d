#include "lib/command/command.h"

#include <bsd/string.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/command/end_report.h"
#include "lib/command/environment.h"
#include "lib/command/file.h"
#include "lib/command/forked.h"
#include "lib/command/run.h"
#include "lib/command/unpreload.h"
#include "lib/since/baseline.h"
#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

/* True if PID has the variables that we put into the command's environment. */
static bool
has_our_environment(const struct mu_command_run *run, pid_t pid)
{
	char path[64], *text = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!found && run->report.folder[0] != '\0' &&
	    getdelim(&text, &size, '\0', file) > 0)
		found = strncmp(text, "MEMUNREACHABLE_OPTIONS=", 23) == 0 &&
		    strstr(text, run->report.folder) != NULL;
	free(text);
	fclose(file);
	return found;
}

static bool
report_copy(void *ctx, int pid)
{
	struct mu_command_run *run = ctx;
	char program[PATH_MAX];

	mu_proc_program(pid, program, sizeof(program));
	if (program[0] == '\0' || strcmp(program, run->program) != 0 ||
	    !has_our_environment(run, pid))
		return true;
	fprintf(stderr,
	    "memunreachable: not checked: the command continues as process %d;"
	    " look at it by -p %d, or with --children at its end\n",
	    pid, pid);
	run->end->unchecked = true;
	return true;
}

/*
 * Tell of copies of the command that live on. They are unchecked. A daemon is a
 * child by fork() that outlives the command.
 */
static void
report_daemon(struct mu_command_run *run)
{
	if (run->program[0] != '\0')
		mu_proc_numbers("/proc", report_copy, run);
}

/* --only-program: not the program that PID executes. */
static bool
is_left_out(struct mu_command_run *run, pid_t pid)
{
	const char *pattern = run->options->only_program, *slash;
	char path[PATH_MAX], name[64], comm[32];
	ssize_t length;

	if (pattern == NULL)
		return false;
	mu_proc_program(pid, path, sizeof(path));
	slash = strrchr(path, '/');
	mu_text_format(name, sizeof(name), "/proc/%d/comm", (int)pid);
	length = mu_sys_read_file(AT_FDCWD, name, comm, sizeof(comm) - 1);
	comm[length > 0 ? length : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	if (fnmatch(pattern, slash != NULL ? slash + 1 : path, 0) == 0 ||
	    fnmatch(pattern, comm, 0) == 0) {
		run->only_found = true;
		return false;
	}
	mu_command_end_report_drop(run->report.answers, pid);
	return true;
}

/* Returns true if ANSWER is that nothing is lost. */
static bool
judge_end(struct mu_command_end *end, const struct mu_report *answer)
{
	switch (mu_exit_status(&answer->info, mu_baseline_knows_all(answer))) {
	case MU_EXIT_LEAKS:
		end->leaks = true;
		return false;
	case MU_EXIT_PARTIAL:
		end->partial = true;
		end->partial_leaks |= answer->info.num_leaks > 0;
		return false;
	case MU_EXIT_CLEAN:
		return true;
	default:
		end->unchecked = true;
		return false;
	}
}

/*
 * trace.ended: a process has reached its end. A child by fork() of the command
 * is reported if something is lost; files are of the command alone.
 */
static void
take_end(void *ctx, const struct mu_threads *threads, size_t missed)
{
	struct mu_command_run *run = ctx;
	struct mu_check check = run->command->check;
	bool asked = !run->options->children && threads->pid != run->pid;
	struct mu_report answer;

	check.pid = threads->pid;
	if (asked) {
		check.explain.save = NULL;
		check.core_out = NULL;
	}
	if (threads->pid == run->pid)
		mu_command_report_show(
		    &run->report, run->pid, run->command->log);
	if (is_left_out(run, threads->pid)) {
		run->checked |= threads->pid == run->pid;
		return;
	}
	mu_command_end_report(
	    &check, run->report.answers, threads, missed, &run->known, &answer);
	if (run->command->judge != NULL)
		run->command->judge(run->command->ctx, &answer);
	if (threads->pid == run->pid) {
		run->checked = true;
		strlcpy(run->program, answer.program, sizeof(run->program));
	}
	if (!judge_end(run->end, &answer) || !asked)
		run->command->show(run->command->ctx, &answer);
	mu_check_release(&answer);
}

/* A pattern that matches nothing has checked nothing. */
static void
judge_only(struct mu_command_run *run)
{
	const char *pattern = run->options->only_program;

	if (pattern == NULL || run->only_found)
		return;
	fprintf(stderr,
	    "memunreachable: not checked: no program that ended has the name"
	    " %s\n",
	    mu_safe_argument(pattern).text);
	run->end->unchecked = true;
}

/* There will be no other report of PID. */
static void
show_unchecked(const struct mu_command_run *run, pid_t pid, const char *program,
    enum mu_status status, const struct mu_why *why)
{
	struct mu_report answer = { .pid = pid, .stop = "" };

	mu_report_reason(&answer, status, why);
	strlcpy(answer.program, program, sizeof(answer.program));
	run->command->show(run->command->ctx, &answer);
}

/*
 * True if PID runs with our user, who could read its file with the same rights:
 * what another user executes is not parsed with ours.
 */
static bool
is_our_user(pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_status_read(pid, pid, status, sizeof(status)) > 0 &&
	    mu_proc_status_number(status, "\nUid:", 1, 10) ==
	    (int64_t)geteuid();
}

/* Without --children the names are gone from the environment. */
static void
preload_again(const struct mu_command_run *run, pid_t pid)
{
	char *names =
	    mu_command_environment_preload(NULL, run->recorder, run->library);

	if (names != NULL && run->library[0] != '\0' && !run->options->children)
		mu_command_preload_again(pid, names);
	free(names);
}

/*
 * trace.became: a program that would fail with our libraries, or under a
 * tracer, as LeakSanitizer does, runs without them.
 */
static bool
take_exec(void *ctx, pid_t pid)
{
	struct mu_command_run *run = ctx;
	char path[64], program[PATH_MAX];
	enum mu_status status;
	struct mu_why why;

	mu_command_end_report_drop(run->report.answers, pid);
	if (!is_our_user(pid))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	mu_proc_program(pid, program, sizeof(program));
	status = mu_command_file_check_run(path, program, &why);
	if (status == MU_OK) {
		preload_again(run, pid);
		return true;
	}
	mu_command_unpreload(pid, run->library, run->recorder);
	show_unchecked(run, pid, program, status, &why);
	run->end->unchecked = true;
	run->told |= pid == run->pid;
	return false;
}

static enum mu_status
find_cause(const struct mu_command_run *run, struct mu_why *why)
{
	int error, status = run->end->wait_status;

	if (WIFSIGNALED(status))
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "the command was ended by signal %d", WTERMSIG(status));
	if (run->traced)
		return mu_why(
		    why, MU_ERR_TARGET_GONE, "the command's end was not seen");
	error = mu_command_report_room(&run->report);
	if (error != 0)
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "the report of the command cannot be written to %s"
		    " (%s)" MU_CURE "set TMPDIR to a place with room",
		    run->report.folder, strerror(error));
	return mu_why(why, MU_ERR_NO_PERMISSION,
	    "the command ended by _exit(2), or became a program that nothing"
	    " can be preloaded into, and it cannot be traced here" MU_CURE
	    "allow"
	    " ptrace(2) to have every end seen");
}

/* A missing report does not mean that there are no leaks. */
static void
explain_silence(const struct mu_command_run *run)
{
	enum mu_status status;
	struct mu_why why;

	if (run->told)
		return;
	status = find_cause(run, &why);
	show_unchecked(run, run->pid, run->path, status, &why);
}

enum mu_status
mu_command_run(const struct mu_command *command, struct mu_command_end *end,
    struct mu_why *why)
{
	struct mu_command_run run = {
		.command = command,
		.options = command->options,
		.end = end,
		.ask_fd = -1,
		.trace = { .ended = take_end, .became = take_exec },
	};
	enum mu_status status;

	*end = (struct mu_command_end) { 0 };
	mu_command_take_signals(&run);
	status = mu_command_prepare(&run, why);
	if (status == MU_OK)
		status = mu_command_start(&run, why);
	if (status == MU_OK) {
		mu_command_await_end(&run);
		if (!run.options->children)
			report_daemon(&run);
		run.checked |= mu_command_report_show_all(
				   &run.report, run.pid, command->log) &&
		    !run.traced;
		judge_only(&run);
		end->unchecked |= !run.checked;
		if (!run.checked)
			explain_silence(&run);
	}
	mu_trace_close(&run.trace);
	mu_command_forked_close(&run);
	mu_command_report_end(&run.report);
	return status;
}
