/*
 * Make a snapshot from a core file: written by the kernel or by gcore, plain or
 * compressed, on this machine or another.
 *
 * Two things are not in a core. Pointers whose only copy is in the kernel
 * (epoll data, timers): blocks that only they refer to are reported as leaks,
 * unless the core is ours (MU_NT_KERNEL_VALUES).
 * And the difference between memory that was left out on purpose
 * (MADV_DONTDUMP) and memory that was never touched: both read as zeros, see
 * mu_snapshot_core_doubt(). A core by gcore does not even list such memory.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_SNAPSHOT_H
#define PTRACE_CORE_SNAPSHOT_H

#include "ptrace/core/memory.h"

/* Memory that is not in the core and not available elsewhere. */
struct mu_core_gap {
	struct mu_range range;
	const char *name; /* the file mapped there, or "" */
	const char *why;  /* such as "cut off", "its file is another build" */
};

struct mu_snapshot_core {
	struct mu_core_file file;
	struct mu_core_process process;
	struct mu_core_part *parts; /* one for each mapping */
	struct mu_core_modules modules;
	struct mu_core_memory memory;

	struct mu_core_gap *gaps; /* by address */
	size_t num_gaps;
	size_t gap_bytes;
	/*
	 * Anonymous memory that was not dumped and reads as zeros: untouched
	 * .bss and the like. With MADV_DONTDUMP it may hold references. Holes
	 * of the heap (MU_CORE_HOLE) may, too; they are counted once the heap
	 * has been listed.
	 */
	size_t undumped_bytes;
};

/*
 * Fill SNAP: pid, threads, values, mappings and memory, all from ARENA and
 * CORE. CORE must stay where it is. Close both last, and CORE in any case.
 *
 * MU_PARTIAL with WHY: the core can be searched, but memory is missing
 * (core->gaps). MU_ERR_ARGUMENT: it is not a core of such a program, is
 * damaged, or does not have what a search needs.
 */
enum mu_status mu_snapshot_core_open(struct mu_snapshot *snap,
    struct mu_snapshot_core *core, const char *path,
    const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why);

/* The last step: the rest from core->file. Both are empty otherwise. */
enum mu_status mu_snapshot_core_fill(struct mu_snapshot *snap,
    struct mu_snapshot_core *core, const struct mu_core_paths *paths,
    struct mu_arena *arena, struct mu_why *why);

/*
 * To be called if leaks were found: MU_PARTIAL with WHY if memory that was not
 * dumped may refer to them (core->undumped_bytes), otherwise MU_OK.
 */
enum mu_status mu_snapshot_core_doubt(
    const struct mu_snapshot_core *core, struct mu_why *why);

/*
 * Call after the heap has been listed: memory that the program had made
 * inaccessible is searched from now on (see mu_memory_self_unlock()).
 */
void mu_snapshot_core_unlock(
    struct mu_snapshot_core *core, struct mu_snapshot *snap);

/*
 * Release memory, modules and file. The snapshot, which points into them, is
 * invalid then. Call it also after a failure to open.
 */
void mu_snapshot_core_close(struct mu_snapshot_core *core);

#endif
