/* The number of heaps that another program has registered. */
#ifndef HEAPWALK_HEAPS_USER_FIND_H
#define HEAPWALK_HEAPS_USER_FIND_H

#include "heapwalk/subject/snapshot.h"

/* Reads the library's variables in SNAP, which is another process or a core. */
size_t mu_program_heaps_count(const struct mu_snapshot *snap);

#endif
