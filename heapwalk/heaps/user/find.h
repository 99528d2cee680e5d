/* How many heaps another program has registered. */
#ifndef HEAPWALK_HEAPS_USER_FIND_H
#define HEAPWALK_HEAPS_USER_FIND_H

#include "heapwalk/subject/snapshot.h"

/* By the library's variables in SNAP, which is of another process or a core. */
size_t mu_program_heaps_count(const struct mu_snapshot *snap);

#endif
