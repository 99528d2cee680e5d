/*
 * A lock identified by its owner's thread id.
 *
 * Unlike a pthread mutex it has a deadline on CLOCK_MONOTONIC, detects a
 * re-entrant call, and becomes free in the child of a fork() that another
 * thread made while it was held: an owner that is not a thread of this process
 * does not count.
 *
 * Runs in: original, also in a signal handler.
 */
#ifndef LIB_STATE_LOCK_H
#define LIB_STATE_LOCK_H

#include <stdint.h>

#include "mu/status.h"

struct mu_lock {
	int owner; /* tid; 0 = free */
};

/*
 * MU_ERR_BUSY if the calling thread holds it already, MU_ERR_TIMEOUT at
 * DEADLINE_NS.
 */
enum mu_status mu_lock_take(struct mu_lock *lock, uint64_t deadline_ns);
void mu_lock_release(struct mu_lock *lock);

#endif
