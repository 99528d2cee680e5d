/*
 * Find out whether a thread can have been in malloc without a lock.
 *
 * A single-threaded process takes no malloc lock, and an exiting thread holds
 * its tcache blocks only in registers. Leaks then have to be confirmed by
 * another look. In that case addresses of chunk headers, which only malloc
 * uses, do not count as references: malloc has those of neighbouring chunks,
 * and what it really held it has released by the second look.
 */
#ifndef LIB_CHECK_MAY_BE_IN_MALLOC_H
#define LIB_CHECK_MAY_BE_IN_MALLOC_H

#include <stdbool.h>

#include "heapwalk/subject/snapshot.h"

/* Decides by the system calls that the threads of SNAP are in. */
bool mu_may_be_in_malloc(const struct mu_snapshot *snap);

#endif
