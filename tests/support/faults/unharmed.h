/*
 * Verify that a pass left the program unchanged. Threads that work all the time
 * show that all still run; descriptors, mappings, children, signal masks, all
 * 64 dispositions, alternate stacks, errno, tracers and stops are compared, and
 * signals that another process sends during the pass are counted.
 */
#ifndef TESTS_SUPPORT_FAULTS_UNHARMED_H
#define TESTS_SUPPORT_FAULTS_UNHARMED_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mu/sys.h"

#define WORKERS 3
#define UNHARMED_TASKS (WORKERS + 1) /* and the process that sends signals */
#define KERNEL_SIGNALS 64            /* NSIG is one more; libc hides two */

/* What is a thread's own and must stay as it is. */
struct thread_state {
	uint64_t mask;
	stack_t stack;
	int error;
};
#define NAP_NS 100000

struct worker {
	pthread_t thread;
	unsigned long rounds;
	bool stop, wrong;
	char stack[16384]; /* for signals */
};

/* As the kernel keeps it. */
struct disposition {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

struct unharmed {
	struct worker workers[WORKERS];
	size_t num_descriptors;
	struct thread_state main;
	struct disposition dispositions[KERNEL_SIGNALS];
	char mappings[65536];
};

void unharmed_on_sigchld(int signo);
void thread_state_look(struct thread_state *state);
bool thread_state_same(const struct thread_state *was);

/* The SIGCHLD of a child of ours; any thread may take it, and later. */
void unharmed_expect_sigchld(void);

/* Store the state for later comparisons. */
void unharmed_look(struct unharmed *before);

void unharmed_begin(struct unharmed *before);

/* May be called repeatedly. */
void unharmed_check(struct unharmed *before);

void unharmed_end(struct unharmed *before);

#endif
