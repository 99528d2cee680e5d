/*
 * How much memory of a process a fork copies, and how much it leaves out; and
 * memory that another process provides (userfaultfd(2)).
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_MEMORY_FORKED_H
#define HEAPWALK_MEMORY_FORKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"

/*
 * Memory under MADV_DONTFORK may be part of a heap, but not if a mapping has
 * more of it than malloc takes for an arena (HEAP_MAX_SIZE in malloc/arena.c:
 * 64 MiB).
 */
#define MU_FORKED_LARGE ((size_t)128 << 20)

/*
 * Bytes of anonymous memory, resident or swapped out. Private MAP_HUGETLB
 * memory is not included.
 *
 * A fork leaves out a private mapping of a file until a page of it is changed,
 * and then copies all that is resident (vma_needs_copy() in mm/memory.c).
 */
struct mu_forked {
	uint64_t small;          /* in small pages, which take time to fork */
	uint64_t huge;           /* in huge pages, which take almost none */
	uint64_t files;          /* not anonymous: unchanged pages of files, in
				    private mappings with others */
	uint64_t dontfork;       /* under MADV_DONTFORK */
	uint64_t dontfork_large; /* of that, in large mappings */
	bool pooled;             /* some is MAP_HUGETLB */
	bool wiped;   /* some is empty in a fork: see heapwalk/memory/wiped.h */
	bool watched; /* some is registered with a userfaultfd */
	bool missing; /* some of that is not there: a read would wait for the
			 process that has it */

	uint64_t anonymous, swapped; /* of the mapping that is being parsed */
	uint64_t huge_here, size, resident;
};

/* Add up TEXT, whole lines of smaps. Pure. */
void mu_forked_parse(struct mu_forked *forked, const char *text, size_t length);

/*
 * Read smaps of process PID. The kernel walks all page tables for it: 10 to 30
 * ms per gigabyte, while the process runs. Returns false, with FORKED
 * unchanged, if smaps cannot be read.
 */
bool mu_forked_find(struct mu_forked *forked, pid_t pid);

/*
 * MU_PARTIAL, with the reason, if memory of process PID is missing; else MU_OK.
 * Call only if leaks were found. Runs in: sweeper, the command.
 */
enum mu_status mu_forked_note_missing(pid_t pid, struct mu_why *why);

/* The same if mu_forked_find() was called. */
enum mu_status mu_forked_judge_missing(
    const struct mu_forked *forked, struct mu_why *why);

#endif
