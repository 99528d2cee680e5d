/*
 * The memory of a core, as views in our address space.
 *
 * A range that is contiguous in the core is viewed there. A range that consists
 * of several pieces (untouched pages, unchanged parts of files) gets reserved
 * address space into which the pieces are mapped.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_MEMORY_H
#define PTRACE_CORE_MEMORY_H

#include "ptrace/core/modules.h"

struct mu_core_memory {
	const struct mu_snapshot *snap; /* the mappings */
	struct mu_core_part *parts;     /* one for each mapping */
	int fd;                         /* the core, or -1 */
	const char *bytes;
	struct mu_range *reserved; /* address space of ours */
	size_t num_reserved, max_reserved;
};

/*
 * Make SNAP's memory a view of the core, named "core", and set the bases of
 * PARTS. SNAP and CORE must stay where they are. Close MEMORY in any case.
 * MU_ERR_NO_MEMORY: the address space does not suffice.
 */
enum mu_status mu_core_memory_open(struct mu_core_memory *memory,
    struct mu_snapshot *snap, struct mu_core_part *parts,
    const struct mu_core_file *core, const struct mu_core_modules *modules,
    size_t page_size, struct mu_arena *arena, struct mu_why *why);

/*
 * Unmap the core's memory: views into it are invalid then. The descriptor
 * belongs to the core file and stays open. May be called twice.
 */
void mu_core_memory_close(struct mu_core_memory *memory);

/*
 * Like mu_memory_self_unlock(): memory that the program had made inaccessible,
 * and of which the core has data, is readable from now on. Call after the
 * heap has been listed.
 */
void mu_core_memory_unlock(
    struct mu_core_memory *memory, struct mu_snapshot *snap);

#endif
