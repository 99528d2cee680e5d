/*
 * A core's segments, and the files that its notes name, become mappings.
 *
 * Each mapping has one source: a segment of which the core has but the first
 * page is two.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_MAPPINGS_H
#define PTRACE_CORE_MAPPINGS_H

#include "heapwalk/subject/snapshot.h"
#include "ptrace/core/process.h"

/* Where the bytes of a mapping are. */
enum mu_core_source {
	MU_CORE_DUMPED,  /* in the core */
	MU_CORE_ZEROS,   /* nowhere: the program had not touched them */
	MU_CORE_HOLE,    /* the same; no segment tells of them at all */
	MU_CORE_FILE,    /* in the file that was mapped, unchanged */
	MU_CORE_NOWHERE, /* nor does anybody need them */
	MU_CORE_LACKING, /* they should be somewhere */
};

struct mu_core_part {
	enum mu_core_source source;
	uint64_t offset;     /* MU_CORE_DUMPED: in the core */
	const char *missing; /* MU_CORE_LACKING: why, in words */
	bool told;           /* a segment tells the protections */
	bool code;           /* of a program or library */
	const char *base; /* of range.begin, in our memory; NULL: not there */
};

/*
 * Fill the mappings of SNAP and a part for each, from ARENA. Whether files are
 * available is not known yet: their parts that are not in the core are NOWHERE.
 *
 * What /proc/PID/maps tells and a core does not:
 * - inodes: files are numbered by their names;
 * - MAP_SHARED: memory under a name that the kernel gives to anonymous shared
 *   memory (/dev/zero, /memfd:, /SYSV, /dev/shm/) is taken for shared, and so
 *   is a file's writable mapping of which nothing was dumped: pages that a
 *   program wrote to privately are in the core (fs/coredump.c,
 *   vma_dump_size()), those of shared files only if coredump_filter says so;
 * - [heap], [stack], [vdso], [vvar]: see mu_core_mappings_name().
 */
enum mu_status mu_core_mappings_make(struct mu_snapshot *snap,
    struct mu_core_part **parts, const struct mu_core_file *core,
    const struct mu_core_process *process, struct mu_arena *arena,
    struct mu_why *why);

/*
 * Name the kernel's own and the two that are the program's (threads and
 * mappings are there): [vdso] by the auxiliary vector, [vvar] right before it,
 * [stack] by the vector or the first thread's sp, and [heap], which is
 * anonymous and writable and follows the program: at once, or up to 1 GiB
 * behind it (arch_randomize_brk() takes 32 MiB, on arm64 1 GiB). A static PIE,
 * and the loader when it is run as a program, have it far below themselves
 * (load_elf_binary() puts it at ELF_ET_DYN_BASE).
 *
 * gdb leaves out a mapping that has a name, as [heap] has, and no page of which
 * was touched ("Anonymous: 0 kB", linux_find_memory_regions_full()): of a heap
 * that mprotect() has cut, pieces may be missing. What lies between two pieces
 * becomes a mapping that cannot be read, and is a hole. *PARTS may move.
 * False: no memory.
 */
bool mu_core_mappings_name(struct mu_snapshot *snap,
    struct mu_core_part **parts, const struct mu_core_process *process,
    struct mu_arena *arena);

#endif
