/* Start a COMMAND: see run.h. */
#include "lib/command/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/command/configured.h"
#include "lib/command/environment.h"
#include "lib/command/file.h"
#include "lib/command/forked.h"
#include "lib/term/safe_text.h"
#include "mu/status.h"

/* The variable with the recorder's options, named as in Android. */
#define RECORDER "LIBC_DEBUG_MALLOC_OPTIONS"
#define RECORDER_ALIAS "MEMUNREACHABLE_MALLOC_DEBUG"

/* Find libmemunreachable.so, to preload it into a COMMAND. */

/* True if NAME is in the folder FROM FOLDER SUBFOLDER. */
static bool
is_there(const char *name, const char *from, const char *folder,
    const char *subfolder, char *path, size_t size)
{
	char there[2 * PATH_MAX], real[PATH_MAX];

	snprintf(
	    there, sizeof(there), "%s%s%s/%s", from, folder, subfolder, name);
	if (access(there, R_OK) != 0 || realpath(there, real) == NULL ||
	    strlen(real) >= size)
		return false;
	memcpy(path, real, strlen(real) + 1);
	return true;
}

/* The folder of this program; "" if not known. */
static void
read_own_folder(char *folder, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash != NULL)
		*slash = '\0';
}

static enum mu_status
find(const char *name, char *path, size_t size, struct mu_why *why)
{
	const char *libdir = mu_configured_libdir;
	char own[PATH_MAX];

	read_own_folder(own, sizeof(own));
	if (!is_there(name, own, "", "", path, size) &&
	    !is_there(name, own, "/../lib", "", path, size) &&
	    !is_there(name, own, "/../lib64", "", path, size) &&
	    !is_there(
		name, own, "/../lib/", mu_configured_multiarch, path, size) &&
	    !is_there(name, libdir, "", "", path, size))
		return mu_why(why, MU_ERR_ARGUMENT,
		    "no %s in %s, in ../lib from there, or in %s" MU_CURE
		    "make install"
		    " puts it there",
		    name, mu_safe_argument(own).text, libdir);
	/* ld.so(8): these separate names in LD_PRELOAD and cannot be quoted. */
	if (strpbrk(path, ": ") != NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s cannot be preloaded: LD_PRELOAD knows no path with a"
		    " space or a colon" MU_CURE "move it",
		    mu_safe_argument(path).text);
	return MU_OK;
}

/*
 * The path of the library: next to the command (a build folder); in ../lib,
 * ../lib64 or ../lib/MULTIARCH from there (a prefix that was moved as a whole);
 * or where it was configured to be.
 */
static enum mu_status
library_path_find(char *path, size_t size, struct mu_why *why)
{
	return find(mu_configured_soname, path, size, why);
}

/* The same for libmemunreachable-malloc-debug.so. */
static enum mu_status
library_path_recorder(char *path, size_t size, struct mu_why *why)
{
	return find(mu_configured_recorder, path, size, why);
}

/* exec() fails after all, for example for a script without an interpreter. */
static void
send_error(int error_fd, int error)
{
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(127);
	_exit(127);
}

/* The recorder's other variable counts only if this one is not set. */
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

static bool
set_environment(const struct mu_command_run *run, bool traced)
{
	const struct mu_cli_options *options = run->options;
	char *ours =
	    mu_command_environment_preload(NULL, run->recorder, run->library);
	char *preload = mu_command_environment_preload(
	    getenv("LD_PRELOAD"), run->recorder, run->library);
	char *words = mu_command_environment_options(
	    getenv("MEMUNREACHABLE_OPTIONS"), options, run->report.path,
	    traced ? run->report.answers : NULL, getppid(),
	    options->children ? 0 : getpid(), ours == NULL ? 0 : strlen(ours));

	return ours != NULL && preload != NULL && words != NULL &&
	    setenv("LD_PRELOAD", preload, 1) == 0 &&
	    setenv("MEMUNREACHABLE_OPTIONS", words, 1) == 0 &&
	    (!options->backtrace || record(options));
}

static void
become(struct mu_command_run *run, int error_fd, int go_fd)
{
	char traced = 0;

	/* The tracer has attached by now, or has failed to. */
	if (read(go_fd, &traced, 1) != 1)
		_exit(127);
	if (run->library[0] != '\0' && !set_environment(run, traced != 0))
		send_error(error_fd, ENOMEM);
	sigaction(SIGCHLD, &run->on_child, NULL);
	sigprocmask(SIG_SETMASK, &run->before, NULL);
	execv(run->path, run->options->command);
	send_error(error_fd, errno);
}

/*
 * Without a tracer the library writes text, and a process with leaks says so by
 * its exit status.
 */
static void
refuse_untraced(struct mu_command_run *run, int error)
{
	const struct mu_cli_options *options = run->options;

	if (run->outside ||
	    (!options->children && options->writer->for_people &&
		options->reports->count == 0))
		return;
	run->outside = true;
	mu_why(&run->outside_why, MU_ERR_ARGUMENT,
	    "nothing can be traced here (%s), which %s needs" MU_CURE
	    "allow ptrace(2),"
	    " or leave it out",
	    strerror(error),
	    options->children                 ? "--children"
		: options->reports->count > 0 ? "--report"
					      : "--format=json");
}

/*
 * Called before the child executes its program: its environment depends on
 * whether it is traced.
 */
static void
begin_trace(struct mu_command_run *run, int go_fd)
{
	char traced;
	long error;

	run->trace.command = run->pid;
	run->trace.children = run->options->children;
	run->trace.ctx = run;
	error = mu_trace_begin(&run->trace);
	run->traced = error == 0;
	traced = run->traced;
	if (!traced)
		refuse_untraced(run, (int)-error);
	if ((run->outside && !traced) || write(go_fd, &traced, 1) < 0)
		kill(run->pid, SIGKILL);
}

/* End a process that could not become its command. */
static void
drop(struct mu_command_run *run)
{
	int status;

	while (waitpid(run->pid, &status, __WALL) == run->pid &&
	    WIFSTOPPED(status))
		ptrace(PTRACE_CONT, run->pid, NULL, NULL);
}

/* MU_OK: run->pid is the COMMAND. */
enum mu_status
mu_command_start(struct mu_command_run *run, struct mu_why *why)
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
		return MU_ERR_NO_PERMISSION;
	}
	return mu_why(why, MU_ERR_ARGUMENT, "cannot run %s: %s",
	    mu_safe_argument(run->path).text, strerror(error));
}

/*
 * Options that were set stay, and may do more, or cost more, than what was
 * asked for.
 */
static enum mu_status
prepare_recorder(struct mu_command_run *run, struct mu_why *why)
{
	const char *earlier = earlier_recorder();

	if (earlier != NULL && earlier[0] != '\0' && !run->options->quiet)
		fprintf(stderr,
		    "memunreachable: the recorder also has the options of the"
		    " environment: %s\n",
		    mu_safe_argument(earlier).text);
	return library_path_recorder(run->recorder, sizeof(run->recorder), why);
}

/*
 * Without its library, as where the static command was copied to, the command
 * is checked from outside, at its end.
 */
static void
prepare_library(struct mu_command_run *run)
{
	struct mu_why why;

	if (library_path_find(run->library, sizeof(run->library), &why) ==
	    MU_OK)
		return;
	run->library[0] = '\0';
	if (!run->outside)
		run->outside_why = why;
	run->outside = true;
	if (!run->options->quiet)
		fprintf(stderr,
		    "memunreachable: the command is checked from outside: %s\n",
		    why.text);
}

enum mu_status
mu_command_prepare(struct mu_command_run *run, struct mu_why *why)
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
	if (status == MU_OK && run->options->backtrace)
		status = prepare_recorder(run, why);
	if (status == MU_OK)
		prepare_library(run);
	if (status == MU_OK && run->library[0] != '\0')
		status = mu_command_report_begin(&run->report, why);
	if (status == MU_OK && !run->options->children)
		mu_command_forked_open(run);
	return status;
}
