/* Stop the threads of the test by signal, and take a snapshot of them. */
#ifndef TESTS_SUPPORT_STOP_SIGNAL_STOP_H
#define TESTS_SUPPORT_STOP_SIGNAL_STOP_H

#include <check.h>
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

#include "mu/signal_action.h"
#include "mu/sys.h"
#include "ptrace/live/signal_stop.h"
#include "ptrace/live/snapshot.h"

#define PATIENCE_NS (60 * MU_NS_PER_SEC)
#define NS_PER_MS 1000000ull
#define KERNEL_SIGNALS 64

extern struct mu_arena stop_arena;
extern struct mu_signal_stop signal_stop;
extern struct mu_snapshot stop_snap;
extern struct mu_why stop_why;
extern mu_sigmask stop_mask;

/* Threads count, each in a separate cache line. */
struct counter {
	pthread_t thread;
	unsigned long count;
	pid_t tid;
	int quit;
	char rest[64 - 8 - 8 - 4 - 4];
};

int stop_get(const int *word);
void stop_set(int *word, int value);

/* Until WORD is at least VALUE; for ever: the time-out. */
void stop_await(const int *word, int value);

/* Stop all other threads, for the calling one; limits as in signal_stop.h. */
enum mu_status stop_others(uint64_t stop_ns, uint64_t leave_ns);

enum mu_status stop_for(uint64_t stop_ns, uint64_t leave_ns);

/* Fewer where a tracer stops every system call: tests/stop_methods.sh. */
int stop_rounds(int rounds);

/*
 * A tracer, on a machine that does a lot besides, may keep a thread in
 * pthread_create() for seconds, with all signals blocked, and says so.
 */
void must_signal_stop(void);

void must_not_signal_stop(enum mu_status expected, uint64_t stop_ns);
void release_all(void);
void take_stopped(void);
struct mu_signal_thread *stop_thread(pid_t tid);

/*
 * Not by ck_assert(), as in all threads but the one that asks: it takes check's
 * lock, which a stopped thread may hold.
 */
pthread_t stop_spawn(void *(*body)(void *), void *arg);

/* Counts without a system call. */
void *counter_body(void *arg);

unsigned long counter_value(const struct counter *counter);
void counter_start(struct counter *counter);
void counter_must_go_on(const struct counter *counter);
void counter_end(struct counter *counter);
void stop_setup(void);
void stop_teardown(void);

#endif
