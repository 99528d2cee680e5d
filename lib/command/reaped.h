/*
 * Tell whether the kernel is freeing the memory of a process that still exists.
 *
 * When a memory cgroup or the machine is full, the kernel frees the memory of a
 * process that is ending (oom_reaper, from 2 s after on). The process stays as
 * long as its tracer holds it, with page tables that are empty.
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_REAPED_H
#define LIB_COMMAND_REAPED_H

#include "heapwalk/subject/snapshot.h"

/*
 * True if memory of a process with these mappings may be gone that it had. If
 * this is false, all that was read before is right. MEMORY and PAGEMAP are its
 * files in /proc.
 */
bool mu_is_reaped(const struct mu_mapping *mappings, size_t count,
    size_t page_size, int memory, int pagemap);

#endif
