/*
 * The memory of a core: each range of the subject at one address in ours.
 *
 * A range that is contiguous in the core is viewed there. For a range that is
 * pieced together (untouched pages between others, the unchanged parts of
 * files), address space is reserved and the pieces are mapped into it.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_MEMORY_H
#define PTRACE_CORE_MEMORY_H

#include "ptrace/core/modules.h"

struct mu_core_memory {
	const struct mu_snapshot *snap; /* its mappings */
	struct mu_core_part *parts;     /* one each */
	int fd;                         /* the core; -1: none */
	const char *bytes;
	struct mu_range *reserved; /* in our memory */
	size_t num_reserved, max_reserved;
};

/*
 * SNAP's memory becomes a view of the core: named "core". PARTS get their
 * bases. SNAP and CORE must stay where they are; to be closed in any case.
 * MU_ERR_NO_MEMORY: there is no address space for it.
 */
enum mu_status mu_core_memory_open(struct mu_core_memory *memory,
    struct mu_snapshot *snap, struct mu_core_part *parts,
    const struct mu_core_file *core, const struct mu_core_modules *modules,
    size_t page_size, struct mu_arena *arena, struct mu_why *why);

/* The part of it that gives PARTS their bases. */
enum mu_status mu_core_memory_layout(struct mu_core_memory *memory,
    const struct mu_core_modules *modules, struct mu_arena *arena,
    struct mu_why *why);

void mu_core_memory_close(struct mu_core_memory *memory);

/*
 * As mu_memory_self_unlock(): private memory that the program closed for the
 * time being, and that holds something, is readable from now on. Once the heap
 * has been listed.
 */
void mu_core_memory_unlock(
    struct mu_core_memory *memory, struct mu_snapshot *snap);

#endif
