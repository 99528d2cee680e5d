/*
 * For the tests of what a program can notice of a pass: passes by each stop
 * method, and the /proc files of a thread during one.
 */
#ifndef TESTS_SUPPORT_FAULTS_TRANSPARENCY_H
#define TESTS_SUPPORT_FAULTS_TRANSPARENCY_H

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
void transparency_pass(int method);

void transparency_passes(int method, int count);
int transparency_get(const int *word);
void transparency_set(int *word, int value);

/* Until WORD is at least VALUE; for ever: the test's time-out. */
void transparency_await(const int *word, int value);

void transparency_spawn(pthread_t *thread, void *(*body)(void *), void *arg);

/* PATH's text; without a handle of stdio, which allocates. */
size_t transparency_read(const char *path, char *text, size_t size);

/* As in /proc: 'S' is blocked, 'T' stopped; '?' is gone. */
char transparency_state(pid_t pid, pid_t tid);

/* In which system call does the thread sit? -1: in none, it runs. */
long transparency_syscall(pid_t tid);

#endif
