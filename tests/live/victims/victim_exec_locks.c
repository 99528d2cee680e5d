/*
 * Takes 24 record locks and one of an open file, and executes itself again and
 * again, for MS milliseconds. At the end it prints how many of them are held.
 * Usage: victim_exec_locks FILE MS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOCKS 24

static long long
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

/* Every other byte, or they would become one. */
static struct flock
lock_of(int i)
{
	return (
	    struct flock) { .l_type = F_WRLCK, .l_start = 2 * i, .l_len = 1 };
}

static int
take(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600), i;
	struct flock lock;

	for (i = 0; i <= LOCKS; i++) {
		lock = lock_of(i);
		if (fcntl(fd, i < LOCKS ? F_SETLK : F_OFD_SETLK, &lock) != 0)
			abort();
	}
	return fd;
}

static int
count(const char *path)
{
	int fd = open(path, O_RDWR), i, held = 0;
	struct flock lock;

	for (i = 0; i <= LOCKS; i++) {
		lock = lock_of(i);
		if (fcntl(fd, F_GETLK, &lock) == 0)
			held += lock.l_type != F_UNLCK;
	}
	return held;
}

int
main(int argc, char **argv)
{
	char end[32];
	int status;
	pid_t pid;

	if (argc == 3) {
		take(argv[1]);
		snprintf(end, sizeof(end), "%lld", now_ms() + atoll(argv[2]));
		execl("/proc/self/exe", argv[0], argv[1], argv[2], end, NULL);
	}
	free(malloc(100));
	if (now_ms() < atoll(argv[3])) {
		execv("/proc/self/exe", argv);
		return 99;
	}
	pid = fork();
	if (pid == 0)
		_exit(count(argv[1]));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 98;
	printf("%d of %d\n", WEXITSTATUS(status), LOCKS + 1);
	return 0;
}
