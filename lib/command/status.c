/*
 * What a COMMAND ends with: see command.h.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/command/command.h"
#include "lib/writers/exit_status.h"

/* A crash or SIGKILL is a failure of the command, also if leaks were found. */
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
