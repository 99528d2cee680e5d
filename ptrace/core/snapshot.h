/*
 * A core file becomes a snapshot: of the kernel's, of gcore's, plain or
 * compressed, on this machine or from another one.
 *
 * What a core does not tell: pointers whose only copy is in the kernel (epoll
 * data, timers), so that what only they refer to is taken for lost; which
 * memory was left out on purpose (MADV_DONTDUMP) and which was never touched:
 * both read as zeros, see mu_snapshot_core_doubt(). gcore's do not even tell
 * that there was such memory.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_SNAPSHOT_H
#define PTRACE_CORE_SNAPSHOT_H

#include "ptrace/core/memory.h"

/* Memory that is not in the core and not available elsewhere. */
struct mu_core_gap {
	struct mu_range range;
	const char *name; /* of the file mapped there; "" if none */
	const char *why;  /* "cut off", "its file is another build" ... */
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
	 * Anonymous memory that was not dumped, taken for zeros: .bss that is
	 * not touched yet, and the like. With MADV_DONTDUMP it may hold
	 * references. So may holes of the heap (MU_CORE_HOLE), which are
	 * counted once it has been listed.
	 */
	size_t untold_bytes;
};

/*
 * Fill SNAP: pid, threads, values, mappings and memory, all from ARENA and
 * CORE, which must stay where it is; both are to be closed last, and CORE in
 * any case.
 *
 * MU_PARTIAL with WHY: it can be searched, but memory is missing (core->gaps).
 * MU_ERR_ARGUMENT: it is no core of such a program, or damaged, or says too
 * little.
 */
enum mu_status mu_snapshot_core_open(struct mu_snapshot *snap,
    struct mu_snapshot_core *core, const char *path,
    const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why);

/* The same of a core in memory, for tests; PATH is for words only. */
enum mu_status mu_snapshot_core_parse(struct mu_snapshot *snap,
    struct mu_snapshot_core *core, const char *bytes, size_t size,
    const char *path, const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why);

/*
 * Blocks are lost: may memory that was not dumped refer to them? MU_PARTIAL
 * with WHY if there is any (core->untold_bytes); else MU_OK.
 */
enum mu_status mu_snapshot_core_doubt(
    const struct mu_snapshot_core *core, struct mu_why *why);

/*
 * Once the heap has been listed: memory that the program had closed for the
 * time being counts from now on (see mu_memory_self_unlock()).
 */
void mu_snapshot_core_unlock(
    struct mu_snapshot_core *core, struct mu_snapshot *snap);

void mu_snapshot_core_close(struct mu_snapshot_core *core);

#endif
