/*
 * A program that requests a large file by a signal and ends at once. Arguments:
 * the signal, and how to end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 60000
#define SIZES 6000

static void *volatile blocks[BLOCKS];

/*
 * Blocks of so many sizes are as many records. One of each size will do: a page
 * that is touched may take 10 us.
 */
static void
allocate(void)
{
	size_t i;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(i < SIZES ? 16 + i : 16);
}

static void *
end(void *arg)
{
	exit(*(int *)arg);
}

int
main(int argc, char **argv)
{
	int signo = argc > 1 ? atoi(argv[1]) : 0, status = 5;
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t thread;

	allocate();
	raise(signo);
	if (strcmp(how, "thread") == 0) {
		pthread_create(&thread, NULL, end, &status);
		pthread_join(thread, NULL);
	}
	if (strcmp(how, "last") == 0)
		pthread_exit(NULL);
	if (strcmp(how, "exit") == 0)
		exit(status);
	if (strcmp(how, "_exit") == 0)
		_exit(status);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(status);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "term") == 0)
		kill(getpid(), SIGTERM);
	if (strcmp(how, "fault") == 0)
		*(volatile int *)0 = 1;
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "execl") == 0)
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
	if (strcmp(how, "execlp") == 0)
		execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
	if (strcmp(how, "execle") == 0)
		execle("/bin/sh", "sh", "-c", "exit $status", (char *)NULL,
		    (char *const[]) { "status=5", NULL });
	if (strncmp(how, "execv", 5) == 0) {
		char *const arguments[] = { "sh", "-c", "exit 5", NULL };

		if (strcmp(how, "execv") == 0)
			execv("/bin/sh", arguments);
		if (strcmp(how, "execvp") == 0)
			execvp("sh", arguments);
		if (strcmp(how, "execve") == 0)
			execve("/bin/sh", arguments, NULL);
	}
	if (strcmp(how, "killed") == 0) {
		usleep(argc > 3 ? (useconds_t)atoi(argv[3]) : 0);
		kill(getpid(), SIGKILL);
	}
	/* A child of vfork() ends nothing of its parent's. */
	if (strcmp(how, "vfork") == 0) {
		if (vfork() == 0)
			_exit(0);
		raise(signo);
		_Exit(status);
	}
	return status;
}
