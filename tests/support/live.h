/*
 * What live tests share: blocks known by hidden addresses only, the number of
 * lost blocks, and threads that wait during a check.
 *
 * Every function that handles a plain address is noinline, and its arguments
 * and results are hidden addresses only.
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

/* The registers that a call may change, with their present contents. */
void scrub_registers(void);

/*
 * The dead stack from right below the caller's frame on, and the registers. A
 * function in C would leave gaps where its own frame is, and one of them can
 * be a word that the next function does not write either.
 */
void scrub(void);

void block_keep(void *block);

/*
 * A block whose usable bytes are all zero, at a place where only our blocks
 * have been.
 */
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

/* Lines of /proc/self/maps. */
size_t count_mappings(void);

/*
 * Run a pass; a pass that is not complete fails the test. WANTED: print the
 * answer if it differs.
 */
size_t ask(size_t wanted);

#define EXPECT_LEAKS(n)                       \
	do {                                  \
		scrub();                      \
		ck_assert_uint_eq(ask(n), n); \
	} while (0)

/*
 * True if exactly the block at HIDDEN is lost, in a complete answer. HIDDEN is
 * made by mu_hide(), because a compiler may compute a plain ~ before the call
 * and keep it in a register.
 */
bool ask_lost(uintptr_t hidden);

/*
 * From here on others may have written to shared memory that the image does not
 * share any more: where files cannot be opened by their mappings an answer with
 * a lost block is partial, and says so.
 */
void expect_doubt_of_files(void);

#define EXPECT_LOST(hidden)                  \
	do {                                 \
		scrub();                     \
		ck_assert(ask_lost(hidden)); \
	} while (0)

/*
 * Check that PLACE is a root: no block is lost while the pointer is there, one
 * is afterwards.
 */
void expect_root(void *place);

void expect_no_root(void *place);

/*
 * A thread that runs step by step: it parks, the test checks, the test
 * continues it. It gets hidden addresses only.
 */
struct worker {
	void (*body)(struct worker *);
	uintptr_t hidden;
	void *context;
	pthread_t thread;
	pid_t tid;
	int reached; /* how often it parked */
	int allowed; /* how often it was continued */
};

long futex(int *word, int operation, int value);

/* In the thread: wait, inside a system call. */
void worker_park(struct worker *worker);

/* As in /proc: 'S' is blocked, 'Z' has ended; 0 is gone. */
char thread_state(pid_t tid);

void worker_await(struct worker *worker, int number);
void *worker_main(void *arg);

/* Start the thread; returns when it has parked for the first time. */
void worker_start(struct worker *worker);

/* Continue it; returns when it has parked again. */
void worker_next(struct worker *worker);

/* Continue it for good, and join it. */
void worker_finish(struct worker *worker);

#endif
