/*
 * Can a thread have been in malloc without a lock?
 *
 * The only one of a process takes none; one that ends has its cache's blocks in
 * registers only. Then what is lost has to be lost at another moment, too.
 * Addresses of chunk headers, which only malloc has, are no references then: it
 * has those of neighbours of what it works at, and what it really held it has
 * let go of by the second time.
 */
#ifndef LIB_CHECK_UNSETTLED_H
#define LIB_CHECK_UNSETTLED_H

#include <stdbool.h>

#include "heapwalk/subject/snapshot.h"

/* By the system calls that the threads of SNAP are in, if any. */
bool mu_unsettled(const struct mu_snapshot *snap);

#endif
