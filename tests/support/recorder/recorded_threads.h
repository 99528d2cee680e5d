/* Threads that churn during looks at the heap, pause, and end. */
#ifndef TESTS_SUPPORT_RECORDER_RECORDED_THREADS_H
#define TESTS_SUPPORT_RECORDER_RECORDED_THREADS_H

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/recorder/recorded_scenarios.h"

/*
 * Heap operations of one thread: every call of the malloc family, every size up
 * to 8 MiB, and blocks full of what looks like chunks.
 */
#define KEPT 400 /* blocks a thread holds at most */
#define LARGE ((size_t)8 << 20)

struct churn {
	unsigned seed;
	size_t operations;
	size_t refused; /* no memory */
	bool untrimmed;
	void *kept[KEPT];
};

void churn(struct churn *churn);
void release(struct churn *churn);

#define THREADS_MAX 64
extern struct churn churns[THREADS_MAX];

/* COUNT threads come, OPERATIONS each, and go; ROUNDS times over. */
int run_threads(
    unsigned seed, unsigned count, size_t operations, unsigned rounds);

#endif
