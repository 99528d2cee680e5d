#include "lib/watch/start.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/term/safe_text.h"
#include "mu/sys.h"

#define PATIENCE_NS (10 * MU_NS_PER_SEC)

static _Noreturn void
become(char **command, const struct mu_watch_signals *signals, pid_t watcher,
    int fd)
{
	int error;

	/*
	 * Yama's ptrace_scope 1 lets only ancestors trace; this lets WATCHER
	 * and its descendants (yama_ptracer_del() is at our end, not at exec).
	 */
	prctl(PR_SET_PTRACER, watcher, 0, 0, 0);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	mu_watch_signals_restore(signals);
	execvp(command[0], command);
	error = errno;
	(void)!write(fd, &error, sizeof(error));
	_exit(127);
}

pid_t
mu_watch_start(
    char **command, const struct mu_watch_signals *signals, struct mu_why *why)
{
	pid_t watcher = getpid(), pid = -1;
	int fds[2], error = 0;

	if (pipe2(fds, O_CLOEXEC) == 0) {
		pid = fork();
		if (pid == 0)
			become(command, signals, watcher, fds[1]);
		close(fds[1]);
		/* It ends at the exec, or with the error. */
		if (pid > 0 &&
		    read(fds[0], &error, sizeof(error)) == sizeof(error)) {
			waitpid(pid, NULL, 0);
			pid = -1;
			errno = error;
		}
		error = errno;
		close(fds[0]);
		errno = error;
	}
	if (pid > 0)
		return pid;
	mu_why(why, MU_ERR_RESOURCES, "%s cannot be run: %s",
	    mu_safe_argument(command[0]).text, strerror(errno));
	return 0;
}

int
mu_watch_round(const char *line, const struct mu_watch_signals *signals)
{
	struct mu_watch_subject subject;
	enum mu_watch_event event = MU_WATCH_NOW;
	pid_t pid = fork();
	int status = -1;

	if (pid < 0)
		return -1;
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		become((char *[]) { "/bin/sh", "-c", (char *)line, NULL },
		    signals, getppid(), STDERR_FILENO);
	}
	if (mu_watch_subject_open(&subject, pid))
		while (event == MU_WATCH_NOW)
			event = mu_watch_await(signals, &subject, UINT64_MAX);
	mu_watch_subject_close(&subject);
	if (event == MU_WATCH_STOP)
		kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid || event == MU_WATCH_STOP)
		return -1;
	return status;
}

int
mu_watch_finish(pid_t pid, const struct mu_watch_signals *signals, bool *ended)
{
	struct mu_watch_subject subject;
	int status = -1;

	*ended = waitpid(pid, &status, WNOHANG) == pid;
	if (*ended)
		return status;
	if (mu_watch_subject_open(&subject, pid)) {
		kill(pid, SIGTERM);
		kill(pid, SIGCONT); /* a stopped process handles no signal */
		mu_watch_await(
		    signals, &subject, mu_sys_now_ns() + PATIENCE_NS);
	}
	mu_watch_subject_close(&subject);
	return waitpid(pid, &status, WNOHANG) == pid ? status : -1;
}
