/*
 * Make mappings from a core's segments and from the files that its notes name.
 *
 * Each mapping has one source: a segment of which the core has only the first
 * page becomes two mappings.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_MAPPINGS_H
#define PTRACE_CORE_MAPPINGS_H

#include "heapwalk/subject/snapshot.h"
#include "ptrace/core/process.h"

/* Where the bytes of a mapping are. */
enum mu_core_source {
	MU_CORE_DUMPED,     /* in the core */
	MU_CORE_ZEROS,      /* not stored: the program never touched them */
	MU_CORE_HOLE,       /* the same, and no segment covers them */
	MU_CORE_FILE,       /* in the mapped file, unchanged */
	MU_CORE_NOT_NEEDED, /* not available and not needed */
	MU_CORE_MISSING,    /* needed, but not available */
};

struct mu_core_part {
	enum mu_core_source source;
	uint64_t offset;     /* MU_CORE_DUMPED: offset in the core */
	const char *missing; /* MU_CORE_MISSING: the reason */
	bool has_segment;    /* a segment states the protections */
	bool code;           /* code of a program or library */
	const char *base; /* of range.begin, in our memory; NULL: not there */
};

/*
 * Fill the mappings of SNAP and a part for each, from ARENA. It is not known
 * yet which files are available: the parts of files that are not in the core
 * are MU_CORE_NOT_NEEDED.
 *
 * A core does not say all that /proc/PID/maps does:
 * - inodes: files are numbered by name;
 * - MAP_SHARED: anonymous shared memory has names that the kernel gives it
 *   (/dev/zero, /memfd:, /SYSV, /dev/shm/). A file's writable mapping counts as
 *   shared if nothing of it was dumped: pages that a program wrote to privately
 *   are in the core (fs/coredump.c, vma_dump_size()), those of shared files
 * only if coredump_filter says so;
 * - [heap], [stack], [vdso], [vvar]: see mu_core_mappings_name().
 */
enum mu_status mu_core_mappings_make(struct mu_snapshot *snap,
    struct mu_core_part **parts, const struct mu_core_file *core,
    const struct mu_core_process *process, struct mu_arena *arena,
    struct mu_why *why);

/*
 * Name the special mappings, once threads and mappings are known: [vdso] by the
 * auxiliary vector; [vvar] right before it; [stack] by the vector or the first
 * thread's sp; and [heap], which is anonymous, writable and follows the
 * program, directly or up to 1 GiB later (arch_randomize_brk() takes 32 MiB, on
 * arm64 1 GiB). A static PIE, and the loader when it is run as a program, have
 * the heap far below themselves (load_elf_binary() puts it at ELF_ET_DYN_BASE).
 *
 * gdb omits a mapping that has a name, as [heap] has, and no touched page
 * ("Anonymous: 0 kB", linux_find_memory_regions_full()). So pieces of a heap
 * that mprotect() has split may be missing. The gap between two pieces becomes
 * an unreadable mapping, MU_CORE_HOLE. *PARTS may move. Returns false if memory
 * is exhausted.
 */
bool mu_core_mappings_name(struct mu_snapshot *snap,
    struct mu_core_part **parts, const struct mu_core_process *process,
    struct mu_arena *arena);

#endif
