/*
 * The memory that a process may still take, read once: what the cgroups allow
 * (heapwalk/memory/headroom.h) or the machine has, whichever is less.
 */
#ifndef HEAPWALK_MEMORY_AVAILABLE_H
#define HEAPWALK_MEMORY_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwalk/memory/headroom.h"

/*
 * For the calling process. Returns false if it is not known. KNOWN: where
 * earlier calls found the cgroups, for the next; or NULL.
 */
bool mu_available(size_t *bytes, struct mu_cgroups_known *known);

/* The same from other files, for tests. */
bool mu_available_in(const struct mu_headroom_files *files, size_t *bytes,
    struct mu_cgroups_known *known);

#endif
