/*
 * The recorder and the question for a program that knows nothing of them:
 * when the signal RTMIN+6 comes, and when it ends. The answer is appended to
 * CORPUS_OUTPUT.<pid>. Only in a program whose name CORPUS_PROGRAM is.
 *
 * The signal is for when the program waits: what it interrupts is not malloc.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/corpus/support/ask.h"

static int asked;
static char output[4000]; /* nginx clears its environment */

static void
ask_now(void)
{
	static char name[4096]; /* in the stack it would hide old pointers */
	int fd;

	snprintf(name, sizeof(name), "%s.%d", output, (int)getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	ask(fd);
	dprintf(fd, "end\n");
	close(fd);
}

static void
on_signal(int signo)
{
	int saved = errno;

	(void)signo;
	asked = 1;
	ask_now();
	errno = saved;
}

/* Ask once per program. */
static void
at_exit(void)
{
	if (!asked)
		ask_now();
}

static __attribute__((constructor)) void
prepare(void)
{
	struct sigaction action = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART };
	const char *program = getenv("CORPUS_PROGRAM");
	const char *path = getenv("CORPUS_OUTPUT");

	if (program == NULL || path == NULL ||
	    strcmp(program, program_invocation_short_name) != 0)
		return;
	snprintf(output, sizeof(output), "%s", path);
	ask_prepare();
	if (getenv("CORPUS_AT_EXIT") != NULL)
		atexit(at_exit);
	sigaction(SIGRTMIN + 6, &action, NULL);
}
