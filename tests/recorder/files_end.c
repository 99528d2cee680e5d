/*
 * A program that requests a large file by a signal and ends at once. Arguments:
 * the signal, and how to end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 60000

static void *volatile blocks[BLOCKS];

/* Blocks of so many sizes are as many records. */
static void
allocate(void)
{
	size_t i;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(16 + i % 6000);
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
