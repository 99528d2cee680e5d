/*
 * Is the program as it was before the pass? Threads that work all the time
 * show that all of them still run; descriptors, mappings, children, signal
 * mask and tracer are compared.
 */
#ifndef TESTS_SUPPORT_UNHARMED_H
#define TESTS_SUPPORT_UNHARMED_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 3

/* A worker's load is the same in every round, so that its heap stands still. */
struct worker {
	pthread_t thread;
	unsigned long rounds;
	bool stop, wrong;
};

struct unharmed {
	struct worker workers[WORKERS];
	size_t num_descriptors;
	sigset_t mask;
	char mappings[65536];
};

static volatile sig_atomic_t unharmed_sigchlds;

static inline void
unharmed_on_sigchld(int signo)
{
	(void)signo;
	unharmed_sigchlds++;
}

static inline void *
worker_body(void *arg)
{
	struct worker *worker = arg;
	char *small, *big;

	while (!__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE)) {
		small = malloc(40);
		big = malloc(3000); /* too big for the tcache */
		if (small == NULL || big == NULL)
			worker->wrong = true;
		else {
			memset(small, 0x11, 40);
			memset(big, 0x22, 3000);
			worker->wrong |= small[39] != 0x11 || big[2999] != 0x22;
		}
		free(big);
		free(small);
		__atomic_add_fetch(&worker->rounds, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static inline size_t
count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

/* All mappings but the program's own heap and stack, which may grow. */
static inline void
read_mappings(char *text, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t used = 0;

	ck_assert_ptr_nonnull(maps);
	text[0] = '\0';
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (strstr(line, "[heap]") != NULL ||
		    strstr(line, "[stack]") != NULL)
			continue;
		ck_assert_uint_lt(used + strlen(line), size);
		used += (size_t)snprintf(text + used, size - used, "%s", line);
	}
	fclose(maps);
}

/* Every worker does another WORK rounds. */
static inline void
await_workers(struct unharmed *before)
{
	unsigned long work = 100, from[WORKERS];
	size_t i;

	for (i = 0; i < WORKERS; i++)
		from[i] = __atomic_load_n(
		    &before->workers[i].rounds, __ATOMIC_ACQUIRE);
	for (i = 0; i < WORKERS; i++)
		while (__atomic_load_n(&before->workers[i].rounds,
			   __ATOMIC_ACQUIRE) < from[i] + work)
			sched_yield(); /* for ever: the test's time-out */
}

/* What it is to be compared with from now on. */
static inline void
unharmed_look(struct unharmed *before)
{
	await_workers(before);
	unharmed_sigchlds = 0;
	pthread_sigmask(SIG_SETMASK, NULL, &before->mask);
	count_descriptors(); /* opendir() allocates: once before we look */
	before->num_descriptors = count_descriptors();
	read_mappings(before->mappings, sizeof(before->mappings));
	read_mappings(before->mappings, sizeof(before->mappings));
}

static inline void
unharmed_begin(struct unharmed *before)
{
	struct sigaction action = { .sa_handler = unharmed_on_sigchld,
		.sa_flags = SA_RESTART | SA_NOCLDSTOP };
	size_t i;

	memset(before, 0, sizeof(*before));
	for (i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_create(&before->workers[i].thread,
				     NULL, worker_body, &before->workers[i]),
		    0);
	sigaction(SIGCHLD, &action, NULL);
	unharmed_look(before);
}

static inline void
assert_not_traced(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = -1;

	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status) != NULL)
		sscanf(line, "TracerPid: %d", &tracer);
	fclose(status);
	ck_assert_int_eq(tracer, 0);
}

/* Two texts of lines; the first difference is shown. */
static inline void
assert_same_lines(const char *a, const char *b)
{
	const char *line_a = a, *line_b = b;

	for (; *a == *b && *a != '\0'; a++, b++)
		if (*a == '\n') {
			line_a = a + 1;
			line_b = b + 1;
		}
	ck_assert_msg(*a == *b, "mappings differ: now \"%.*s\", once \"%.*s\"",
	    (int)strcspn(line_a, "\n"), line_a, (int)strcspn(line_b, "\n"),
	    line_b);
}

/* To be called as often as wanted. */
static inline void
unharmed_check(struct unharmed *before)
{
	static char mappings[sizeof(before->mappings)];
	sigset_t mask;
	int signo;

	ck_assert_msg(
	    waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD,
	    "a child is left");
	ck_assert_int_eq(unharmed_sigchlds, 0);
	await_workers(before);
	ck_assert_uint_eq(count_descriptors(), before->num_descriptors);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (signo = 1; signo < NSIG; signo++)
		ck_assert_int_eq(sigismember(&mask, signo),
		    sigismember(&before->mask, signo));
	assert_not_traced();
	read_mappings(mappings, sizeof(mappings));
	assert_same_lines(mappings, before->mappings);
}

static inline void
unharmed_end(struct unharmed *before)
{
	size_t i;

	for (i = 0; i < WORKERS; i++)
		__atomic_store_n(
		    &before->workers[i].stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < WORKERS; i++) {
		pthread_join(before->workers[i].thread, NULL);
		ck_assert(!before->workers[i].wrong);
	}
}

#endif
