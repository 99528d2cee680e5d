/*
 * Find a recorder's struct mu_recorded among the variables of programs and
 * libraries, by its magic.
 */
#ifndef HEAPWALK_RECORDED_FIND_H
#define HEAPWALK_RECORDED_FIND_H

#include "heapwalk/subject/snapshot.h"

/*
 * The recorder's own library first, then, as it may be linked statically, every
 * other module. 0: there is none.
 */
uintptr_t mu_recorded_find(const struct mu_snapshot *snap);

#endif
