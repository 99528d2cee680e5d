/*
 * Is the program as it was before the pass? Threads that work all the time
 * show that all of them still run; descriptors, mappings, children, signal
 * masks, all 64 dispositions, alternate stacks, errno, tracers and stops are
 * compared, and signals that another process sends all the while are counted.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mu/sys.h"
#include "tests/support/steady_signals.h"

#define WORKERS 3
#define UNHARMED_TASKS (WORKERS + 1) /* and the process that sends signals */
#define KERNEL_SIGNALS 64            /* NSIG is one more; libc hides two */

/* What is a thread's own and must stay as it is. */
struct thread_state {
	uint64_t mask;
	stack_t stack;
	int error;
};

/*
 * A worker's load is the same in every round, so that its heap stands still. A
 * nap now and then leaves room for whom it is all about, and for other tests.
 */
#define ROUNDS_A_NAP 16
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

static int unharmed_sigchlds;
static int unharmed_tracer; /* before the pass; 0 = none */

static inline void
unharmed_on_sigchld(int signo)
{
	(void)signo;
	__atomic_add_fetch(&unharmed_sigchlds, 1, __ATOMIC_SEQ_CST);
}

static inline void
thread_state_look(struct thread_state *state)
{
	memset(state, 0, sizeof(*state));
	state->error = errno;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &state->mask,
	    sizeof(state->mask));
	sigaltstack(NULL, &state->stack);
}

static inline bool
thread_state_same(const struct thread_state *was)
{
	struct thread_state now;

	thread_state_look(&now);
	return now.mask == was->mask && now.error == was->error &&
	    now.stack.ss_sp == was->stack.ss_sp &&
	    now.stack.ss_size == was->stack.ss_size &&
	    now.stack.ss_flags == was->stack.ss_flags;
}

static inline void *
worker_body(void *arg)
{
	struct worker *worker = arg;
	stack_t stack = { .ss_sp = worker->stack,
		.ss_size = sizeof(worker->stack) };
	struct thread_state state;
	char *small, *big;

	sigaltstack(&stack, NULL);
	errno = 4711;
	thread_state_look(&state);
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
		if (worker->rounds % ROUNDS_A_NAP == 0) {
			worker->wrong |= !thread_state_same(&state);
			mu_sys_sleep_ns(NAP_NS); /* without errno */
		}
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

/* The SIGCHLD of a child of ours; any thread may take it, and later. */
static inline void
unharmed_expect_sigchld(void)
{
	while (__atomic_load_n(&unharmed_sigchlds, __ATOMIC_SEQ_CST) == 0)
		mu_sys_sleep_ns(NAP_NS);
	__atomic_sub_fetch(&unharmed_sigchlds, 1, __ATOMIC_SEQ_CST);
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
	unsigned long work = 3 * ROUNDS_A_NAP, from[WORKERS];
	size_t i;

	for (i = 0; i < WORKERS; i++)
		from[i] = __atomic_load_n(
		    &before->workers[i].rounds, __ATOMIC_ACQUIRE);
	for (i = 0; i < WORKERS; i++)
		while (__atomic_load_n(&before->workers[i].rounds,
			   __ATOMIC_ACQUIRE) < from[i] + work)
			mu_sys_sleep_ns(NAP_NS); /* for ever: the time-out */
}

static inline void
read_dispositions(struct disposition *all)
{
	int signo;

	memset(all, 0, KERNEL_SIGNALS * sizeof(*all));
	for (signo = 1; signo <= KERNEL_SIGNALS; signo++)
		ck_assert_int_eq(syscall(SYS_rt_sigaction, signo, NULL,
				     &all[signo - 1], sizeof(uint64_t)),
		    0);
}

static inline void
assert_same_dispositions(const struct disposition *was)
{
	struct disposition now[KERNEL_SIGNALS];
	int i;

	read_dispositions(now);
	for (i = 0; i < KERNEL_SIGNALS; i++)
		ck_assert_msg(memcmp(&now[i], &was[i], sizeof(now[i])) == 0,
		    "signal %d: handler %#lx flags %#lx, once %#lx %#lx", i + 1,
		    (unsigned long)now[i].handler, now[i].flags,
		    (unsigned long)was[i].handler, was[i].flags);
}

/* What it is to be compared with from now on. */
static inline void
unharmed_look(struct unharmed *before)
{
	await_workers(before);
	unharmed_sigchlds = 0;
	thread_state_look(&before->main);
	read_dispositions(before->dispositions);
	count_descriptors(); /* opendir() allocates: once before we look */
	before->num_descriptors = count_descriptors();
	read_mappings(before->mappings, sizeof(before->mappings));
	read_mappings(before->mappings, sizeof(before->mappings));
}

/* A debugger that all of it is run under. */
static inline int
read_tracer(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0;

	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status) != NULL)
		sscanf(line, "TracerPid: %d", &tracer);
	fclose(status);
	return tracer;
}

static inline void
unharmed_begin(struct unharmed *before)
{
	struct sigaction action = { .sa_handler = unharmed_on_sigchld,
		.sa_flags = SA_RESTART | SA_NOCLDSTOP };
	size_t i;

	memset(before, 0, sizeof(*before));
	unharmed_tracer = read_tracer();
	steady_begin();
	for (i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_create(&before->workers[i].thread,
				     NULL, worker_body, &before->workers[i]),
		    0);
	sigaction(SIGCHLD, &action, NULL);
	unharmed_look(before);
}

/* Neither the process nor any of its threads is traced or stopped. */
static inline void
assert_task_free(const char *tid)
{
	char path[300], line[256], state = '?';
	FILE *status;
	int tracer = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	status = fopen(path, "re");
	if (status == NULL)
		return; /* it has just ended */
	while (fgets(line, sizeof(line), status) != NULL) {
		sscanf(line, "TracerPid: %d", &tracer);
		sscanf(line, "State: %c", &state);
	}
	fclose(status);
	ck_assert_msg(tracer <= 0 || tracer == unharmed_tracer,
	    "thread %s is traced by %d", tid, tracer);
	/* One from outside stops it at each of its system calls, too. */
	ck_assert_msg(state != 'T' && (state != 't' || tracer > 0),
	    "thread %s is stopped", tid);
}

static inline void
assert_all_free(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			assert_task_free(entry->d_name);
	closedir(dir);
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
	size_t i;

	errno = before->main.error;
	ck_assert_msg(thread_state_same(&before->main),
	    "the main thread's signal mask or alternate stack has changed");
	ck_assert_msg(
	    waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD,
	    "a child is left");
	ck_assert_int_eq(
	    __atomic_load_n(&unharmed_sigchlds, __ATOMIC_SEQ_CST), 0);
	await_workers(before);
	for (i = 0; i < WORKERS; i++)
		ck_assert_msg(!__atomic_load_n(
				  &before->workers[i].wrong, __ATOMIC_ACQUIRE),
		    "a worker's memory, errno, mask or stack has changed");
	steady_check();
	assert_same_dispositions(before->dispositions);
	ck_assert_uint_eq(count_descriptors(), before->num_descriptors);
	assert_all_free();
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
