/*
 * Is there another malloc than glibc's? By the dynamic symbols of the modules,
 * as the dynamic linker looks them up.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MALLOC_OWNER_H
#define HEAPWALK_MALLOC_OWNER_H

#include "heapwalk/snapshot.h"

/*
 * False only if SNAP is of a dynamically linked program and no module but
 * glibc's own defines malloc. A module that cannot be read may define it.
 */
bool mu_malloc_has_other(const struct mu_snapshot *snap);

#endif
