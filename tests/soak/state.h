/*
 * The state of the process while all threads rest: it must be the same before
 * and after the soak.
 */
#ifndef TESTS_SOAK_STATE_H
#define TESTS_SOAK_STATE_H

#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>

#include "tests/soak/soaker.h"

/* Arenas keep this or that; a page or a mapping a pass is far more. */
#define MAPPINGS_SLACK 64
#define RESIDENT_SLACK ((size_t)48 << 20)

struct state {
	size_t descriptors, mappings, threads, resident;
	sigset_t mask;
	struct sigaction actions[NSIG];
};

/* Skip "." and "..". */
LIVE size_t
count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	if (dir == NULL)
		abort();
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

LIVE size_t
count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	size_t count = 0;
	int c;

	if (file == NULL)
		abort();
	while ((c = getc(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}

LIVE size_t
resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t size, resident = 0;

	if (file == NULL || fscanf(file, "%zu %zu", &size, &resident) != 2)
		abort();
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

LIVE void
state_look(struct state *state)
{
	int signo;

	malloc_trim(0);
	state->descriptors = count_entries("/proc/self/fd");
	state->threads = count_entries("/proc/self/task");
	state->mappings = count_lines("/proc/self/maps");
	state->resident = resident_bytes();
	pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
	for (signo = 1; signo < NSIG; signo++)
		sigaction(signo, NULL, &state->actions[signo]);
}

LIVE void
state_print(const struct state *before, const struct state *after)
{
	printf("before and after: descriptors %zu, %zu; threads %zu, %zu;"
	       " mappings %zu, %zu; resident %zu, %zu KiB\n",
	    before->descriptors, after->descriptors, before->threads,
	    after->threads, before->mappings, after->mappings,
	    before->resident >> 10, after->resident >> 10);
}

LIVE void
signals_compare(const struct state *before, const struct state *after)
{
	int signo;

	for (signo = 1; signo < NSIG; signo++) {
		if (sigismember(&before->mask, signo) !=
		    sigismember(&after->mask, signo))
			wrong("signal %d: the mask has changed", signo);
		if (before->actions[signo].sa_handler !=
			after->actions[signo].sa_handler ||
		    before->actions[signo].sa_flags !=
			after->actions[signo].sa_flags)
			wrong("signal %d: another handler", signo);
	}
}

LIVE void
state_compare(const struct state *before, const struct state *after)
{
	signals_compare(before, after);
	if (after->descriptors != before->descriptors)
		wrong("a descriptor is left");
	if (after->threads != before->threads)
		wrong("a thread is left");
	if (after->mappings > before->mappings + MAPPINGS_SLACK)
		wrong("mappings are left");
	if (after->resident > before->resident + RESIDENT_SLACK)
		wrong("memory is left");
	errno = 0;
	if (waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD)
		wrong("a child is left");
}

#endif
