/*
 * Threads that allocate and free all the time: every size, plain, zeroed,
 * aligned, resized and mmapped, also each other's blocks. What a thread holds
 * is a list that one pointer leads to.
 */
#ifndef TESTS_SUPPORT_PASS_CHURN_H
#define TESTS_SUPPORT_PASS_CHURN_H

#include "tests/support/live.h"
#define SLOTS 64

struct node {
	struct node *next;
	size_t size;
};

struct churner {
	struct worker worker;
	uint64_t random;
	unsigned long progress;
	unsigned long steps; /* between two naps of 1 ms; 0: no naps */
};

extern int resting; /* churn_on() returns when it is set */

/* Blocks on their way to another thread. */
extern struct node *slots[SLOTS];

size_t random_below(struct churner *churner, size_t limit);

/* Until all rest; then nothing is left of LIST. */
void churn_on(struct churner *churner, struct node **list);

#endif
