/*
 * For the tests of what a program can notice of a pass: passes by each stop
 * method, and what /proc says of a thread during one.
 */
#ifndef TESTS_SUPPORT_TRANSPARENCY_H
#define TESTS_SUPPORT_TRANSPARENCY_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/suite.h"

/* A looping test runs once with each: transparency_method(_i). */
#define TRANSPARENCY_METHODS 2

static const struct {
	enum mu_stop_option option;
	int stop; /* as the answer has it */
	const char *name;
} transparency_methods[TRANSPARENCY_METHODS] = {
	{ MU_STOP_PTRACE, MEMUNREACHABLE_STOP_PTRACE, "ptrace" },
	{ MU_STOP_SIGNAL, MEMUNREACHABLE_STOP_SIGNAL, "signal" },
};

/* One pass by that method, which must judge. */
static inline void
transparency_pass(int method)
{
	struct UnreachableMemoryInfo info = { 0 };

	mu_library.options.stop = transparency_methods[method].option;
	ck_assert_msg(GetUnreachableMemory(&info, 1), "by %s: %s: %s",
	    transparency_methods[method].name,
	    memunreachable_status_name(info.status), info.reason);
	FreeUnreachableMemoryInfo(&info);
	/* Without threads to stop there is no method of stopping. */
	if (info.num_threads > 1)
		ck_assert_int_eq(info.stop, transparency_methods[method].stop);
}

static inline void
transparency_passes(int method, int count)
{
	while (count-- > 0)
		transparency_pass(method);
}

static inline int
transparency_get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void
transparency_set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* Until WORD is at least VALUE; for ever: the test's time-out. */
static inline void
transparency_await(const int *word, int value)
{
	while (transparency_get(word) < value)
		usleep(200);
}

static inline void
transparency_spawn(pthread_t *thread, void *(*body)(void *), void *arg)
{
	ck_assert_int_eq(pthread_create(thread, NULL, body, arg), 0);
}

/* PATH's text; without a handle of stdio, which allocates. */
static inline size_t
transparency_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	text[0] = '\0';
	if (fd < 0)
		return 0;
	while (length + 1 < size &&
	    (got = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	close(fd);
	text[length] = '\0';
	return length;
}

/* As in /proc: 'S' is blocked, 'T' stopped; '?' is gone. */
static inline char
transparency_state(pid_t pid, pid_t tid)
{
	char path[64], text[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (transparency_read(path, text, sizeof(text)) == 0)
		return '?';
	end = strrchr(text, ')');
	return end == NULL ? '?' : end[2];
}

/* In which system call does the thread sit? -1: in none, it runs. */
static inline long
transparency_syscall(pid_t tid)
{
	char path[64], text[256];

	if (transparency_state(getpid(), tid) != 'S')
		return -1;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	if (transparency_read(path, text, sizeof(text)) == 0 || text[0] < '0' ||
	    text[0] > '9')
		return -1;
	return strtol(text, NULL, 10);
}

#endif
