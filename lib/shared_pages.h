/*
 * Pages of memory that a copy of a process shares with it (MAP_SHARED), which
 * go on changing: read while the process is stopped. And pages that the process
 * has never touched, although they hold something: the copy is asked for them.
 *
 * Runs in: keeper. Uses no malloc, no errno, no libc lock.
 */
#ifndef LIB_SHARED_PAGES_H
#define LIB_SHARED_PAGES_H

#include "heapwalk/memory_mirror.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/process_copy.h"

struct mu_shared_pages {
	/* Set by the caller. */
	int memory, pagemap; /* of the process */
	size_t page_size;
	size_t limit;           /* bytes that are read at most */
	struct mu_arena *arena; /* of all that is found */

	/* What was found. */
	struct mu_mirror_part *parts; /* by address after ..._complete() */
	size_t num_parts, max_parts;
	size_t taken;    /* bytes that were read during the stop */
	size_t changing; /* bytes that were not, for want of time or memory */
	size_t
	    unasked; /* bytes of which it is not known whether they hold data */

	/* Of the work. */
	struct mu_mapping *mappings; /* those that are shared, by address */
	size_t num_mappings;
	uint64_t *known; /* pages of files that were read: a hash table */
	size_t num_known;
};

/*
 * Before the stop: list the mappings of process PID. Where the memory for that
 * is missing, everything will be changing.
 */
void mu_shared_pages_list(struct mu_shared_pages *pages, pid_t pid);

/*
 * During the stop, until END_NS (CLOCK_MONOTONIC): read what the process has
 * touched. Small mappings come first. Pages of a file that are mapped twice are
 * read once: only one of the mappings shows them.
 */
void mu_shared_pages_take(struct mu_shared_pages *pages, uint64_t end_ns);

/*
 * Afterwards, with the MAPPINGS of the copy: what was mapped since the listing,
 * and what no process has touched. COPY_MEMORY is /proc/COPY/mem. Sorts the
 * parts.
 */
void mu_shared_pages_complete(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns);

#endif
