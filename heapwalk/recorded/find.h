/* Find a recorder's struct mu_recorded. */
#ifndef HEAPWALK_RECORDED_FIND_H
#define HEAPWALK_RECORDED_FIND_H

#include "heapwalk/subject/snapshot.h"

/* Its address, or 0. */
uintptr_t mu_recorded_find(const struct mu_snapshot *snap);

#endif
