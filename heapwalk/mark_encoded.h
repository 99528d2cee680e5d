/*
 * Marking by references that are no addresses: heapwalk/encodings.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MARK_ENCODED_H
#define HEAPWALK_MARK_ENCODED_H

#include "heapwalk/marking.h"

/*
 * Once all else is marked: what marked blocks refer to so, and what that leads
 * to. Nothing unless blocks->encodings says that there may be any.
 */
void mu_mark_encoded(struct mu_marking *marking);

#endif
