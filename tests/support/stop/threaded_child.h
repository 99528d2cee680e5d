/*
 * A child process with a number of threads, which sleep and answer when they
 * are called, so that any effect of the test shows.
 */
#ifndef TESTS_SUPPORT_STOP_THREADED_CHILD_H
#define TESTS_SUPPORT_STOP_THREADED_CHILD_H

#include <check.h>
#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADED_MAX 1100
#define THREADED_PATIENCE \
	60000 /* milliseconds; then the child counts as dead */

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#define PR_SET_PTRACER_ANY ((unsigned long)-1)
#endif

struct threaded_shared {
	int call, quit, started, created;
	int answers[THREADED_MAX];
	int signals[65];    /* handler calls, by number */
	int sent[65];       /* for the senders of signals */
	uintptr_t words[8]; /* for what a test is about */
};

struct threaded_child {
	pid_t pid;
	int threads; /* but the main one */
	struct threaded_shared *shared;
};

extern struct threaded_shared
    *threaded_shared; /* in the child: for its handler */

int threaded_get(const int *word);
void threaded_set(int *word, int value);
int threaded_add(int *word, int value);

/* Look every millisecond until WORD is at least VALUE; it must become so. */
void threaded_await(const int *word, int value);

/* Not by returning: the last thread to end would run exit handlers. */
void *threaded_answer_and_exit(void *index);

void threaded_spawn(void *(*body)(void *), void *arg);
struct threaded_child threaded_start(
    int threads, void (*prepare)(struct threaded_shared *));
void threaded_call(struct threaded_child *threaded);

/* A line of /proc/PID/task/TID/status, without the key; "" if it is gone. */
void threaded_status(
    pid_t pid, pid_t tid, const char *key, char *value, size_t size);

char threaded_state(pid_t pid, pid_t tid);

/* Call VISIT for each thread; how many there are. */
int threaded_each(pid_t pid, void (*visit)(pid_t pid, pid_t tid));

void threaded_thread_is_free(pid_t pid, pid_t tid);

/* It is not traced, no thread is stopped, and every thread answers. */
void threaded_is_unharmed(struct threaded_child *threaded);

/* Unharmed, it ends when it is asked to, with exit status 0. */
void threaded_end(struct threaded_child *threaded);

#endif
