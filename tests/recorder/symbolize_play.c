/*
 * Loses two blocks, reports them in each way, and checks whether it notices the
 * helper processes: by SIGCHLD, by a wait in another thread, by descriptors or
 * children that remain. Ends with 5, or with 1 and a message if it noticed.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t sigchlds;

static void
on_child(int signo)
{
	static const char words[] = "SIGCHLD\n";

	(void)signo;
	if (write(STDERR_FILENO, words, sizeof(words) - 1) > 0)
		sigchlds++;
}

static __attribute__((noinline)) void
lose(size_t size)
{
	memset(malloc(size), 'x', size); /* LOST */
	__asm__ volatile("");
}

static __attribute__((noinline)) void
scrub(void)
{
	char dead[8192];

	memset(dead, 0, sizeof(dead));
	__asm__ volatile("" ::"r"(dead) : "memory");
}

static void *
await_any(void *got)
{
	*(pid_t *)got = waitpid(-1, NULL, 0);
	return NULL;
}

static int
open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void
report(void)
{
	static char none[64] __attribute__((aligned(16)));
	bool (*log_leaks)(bool, size_t);
	char *(*get_string)(bool, size_t), *string;

	*(void **)&log_leaks = dlsym(RTLD_DEFAULT, "LogUnreachableMemory");
	*(void **)&get_string =
	    dlsym(RTLD_DEFAULT, "GetUnreachableMemoryString");
	if (log_leaks != NULL && log_leaks(false, 10)) {
		string = get_string(false, 10);
		fputs(string, stdout);
		fflush(stdout);
		free(string);
	}
	if (getenv("FREE_NONE") != NULL) {
		void *volatile p = none + 16;
		free(p); /* FREED */
	}
}

static int
noticed(const char *what)
{
	fprintf(stderr, "noticed: %s\n", what);
	return 1;
}

int
main(void)
{
	int before = open_files();
	pthread_t thread;
	pid_t child, got = 0;

	signal(SIGCHLD, on_child);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	pthread_create(&thread, NULL, await_any, &got);
	lose(24);
	lose(5000);
	scrub();
	report();
	if (sigchlds != 0 || got != 0)
		return noticed("a child ended");
	if (open_files() != before)
		return noticed("descriptors");
	signal(SIGCHLD, SIG_DFL);
	kill(child, SIGKILL);
	pthread_join(thread, NULL);
	/* Nothing remains, not even a zombie. */
	if (got != child || waitpid(-1, NULL, __WALL) != -1 || errno != ECHILD)
		return noticed("another child");
	signal(SIGCHLD, SIG_IGN);
	return 5;
}
