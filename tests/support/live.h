/*
 * What live tests share: blocks known by hidden addresses only, the question
 * "how many are lost?", and threads that stand still when it is asked.
 *
 * Every function that has a plain address in its hands is noinline, and takes
 * and leaves nothing but the hidden form.
 */
#ifndef TESTS_SUPPORT_LIVE_H
#define TESTS_SUPPORT_LIVE_H

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

#define LIVE static __attribute__((noinline, unused))

/* Registers that a call may change, with whatever they still hold. */
void scrub_registers(void);

/*
 * The dead stack from right below the caller's frame on, and the registers. A
 * function in C would leave gaps where its own frame is, and one of them can
 * be a word that the next function does not write either.
 */
void scrub(void);

void block_keep(void *block);

/* A block of zeros, all its usable bytes, where no block ever was but ours. */
void *block_fresh(size_t alignment, size_t size);

/* A block without any pointer to it. */
uintptr_t block_new(size_t size);

void block_free(uintptr_t hidden);
size_t block_size(uintptr_t hidden);

/* Write the address to PLACE; drop() takes it away again. */
void put(void *place, uintptr_t hidden);

void drop(void *place);

/* Write the address of TO into the block FROM, at OFFSET. */
void block_link(uintptr_t from, size_t offset, uintptr_t to);

void show(const struct UnreachableMemoryInfo *info);

/* Ask; a pass that is not complete is a failure. WANTED: show it if not so. */
size_t ask(size_t wanted);

#define EXPECT_LEAKS(n)                       \
	do {                                  \
		scrub();                      \
		ck_assert_uint_eq(ask(n), n); \
	} while (0)

/*
 * Is exactly the block at HIDDEN lost, in an answer that is complete? With
 * mu_hide(), as a plain ~ may be done before the call and kept in a register.
 */
bool ask_lost(uintptr_t hidden);

#define EXPECT_LOST(hidden)                  \
	do {                                 \
		scrub();                     \
		ck_assert(ask_lost(hidden)); \
	} while (0)

/* PLACE is where a pointer lives: none is lost while it is there, one after. */
void expect_root(void *place);

void expect_no_root(void *place);

/*
 * A thread that goes step by step: it parks, the test looks, the test sends it
 * on. Only hidden addresses are handed to it.
 */
struct worker {
	void (*body)(struct worker *);
	uintptr_t hidden;
	void *context;
	pthread_t thread;
	pid_t tid;
	int reached; /* how often it parked */
	int allowed; /* how often it was sent on */
};

long futex(int *word, int operation, int value);

/* In the thread: stand still, inside a system call. */
void worker_park(struct worker *worker);

/* As in /proc: 'S' is blocked, 'Z' has ended; 0 is gone. */
char thread_state(pid_t tid);

void worker_await(struct worker *worker, int number);
void *worker_main(void *arg);

/* Start; returns when it has parked for the first time. */
void worker_start(struct worker *worker);

/* Send it on; returns when it has parked again. */
void worker_next(struct worker *worker);

/* Send it on for good and join it. */
void worker_finish(struct worker *worker);

/* build/tests/live/test_x finds build/tests/support/NAME. */
void support_path(const char *name, char path[PATH_MAX]);

#endif
