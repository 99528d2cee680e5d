/*
 * The memory that a process may still take, read once: as
 * heapwalk/memory/headroom.h says, or the machine's if no cgroup leaves less.
 */
#ifndef HEAPWALK_MEMORY_AVAILABLE_H
#define HEAPWALK_MEMORY_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwalk/memory/headroom.h"

/* The calling process: into *BYTES; false if nothing tells. */
bool mu_available(size_t *bytes);

/* The same from other files, for tests. */
bool mu_available_in(const struct mu_headroom_files *files, size_t *bytes);

#endif
