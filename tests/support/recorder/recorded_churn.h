/*
 * Heap operations of one thread: every call of the malloc family, every size up
 * to 8 MiB, and blocks full of what looks like chunks.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDED_CHURN_H
#define TESTS_SUPPORT_RECORDER_RECORDED_CHURN_H

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

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

#endif
