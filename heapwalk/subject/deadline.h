/*
 * A deadline that is cheap to check: the clock is read once in a million words
 * of work.
 */
#ifndef HEAPWALK_SUBJECT_DEADLINE_H
#define HEAPWALK_SUBJECT_DEADLINE_H

#include "mu/sys.h"

/* 1 to 20 ms, depending on cache misses. */
#define MU_DEADLINE_WORDS (1u << 20)

struct mu_deadline {
	uint64_t ns; /* CLOCK_MONOTONIC */
	size_t left; /* words of work until the clock is read again */
	bool passed; /* once true, always true */
};

/* Account for WORDS of work. Returns true once the deadline has passed. */
static inline bool
mu_deadline_passed(struct mu_deadline *deadline, size_t words)
{
	if (words < deadline->left) {
		deadline->left -= words;
		return deadline->passed;
	}
	deadline->left = MU_DEADLINE_WORDS;
	if (mu_sys_now_ns() >= deadline->ns)
		deadline->passed = true;
	return deadline->passed;
}

#endif
