/*
 * Pages of memory that a copy of a process shares with it (MAP_SHARED), which
 * go on changing, or does not have (MADV_DONTFORK, MADV_WIPEONFORK): read while
 * the process is stopped. And pages that the process has never touched,
 * although they hold something: their file tells, or else the copy is asked.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_SHARED_PAGES_H
#define LIB_HELPERS_SHARED_PAGES_H

#include "heapwalk/memory/remote_memory.h"
#include "heapwalk/subject/ranges.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/live/process_copy.h"

struct mu_known_run;
struct mu_workers;

struct mu_shared_pages {
	/* Set by the caller. */
	pid_t tid;           /* a thread of the process that lives */
	int memory, pagemap; /* of the process */
	size_t page_size;
	size_t limit;    /* bytes that are read at most */
	bool ask_wiped;  /* look for MADV_WIPEONFORK, too */
	size_t expected; /* bytes that there are to be read; 0: not known */
	struct mu_workers *workers; /* who shares the reading; may be NULL */
	struct mu_arena *arena;     /* of all that is found */

	/* What was found. */
	struct mu_remote_part *parts; /* by address after ..._complete() */
	size_t num_parts, max_parts;
	size_t all;        /* mappings that the process had before the stop */
	size_t taken;      /* bytes that were read during the stop */
	uint64_t taken_ns; /* that this took */
	size_t unread;     /* pages of these that only the process can read */
	size_t changing;   /* bytes that were not, for want of time or memory */
	size_t
	    unasked; /* bytes of which it is not known whether they hold data */

	/* Of the work. */
	struct mu_mapping *mappings; /* those that are shared, by address */
	size_t num_mappings;
	struct mu_mapping
	    *missing; /* that the copy does not have, by address */
	size_t num_missing;
	size_t round, next;     /* where the taking was left: this mapping */
	uintptr_t from;         /* from there on; 0: from its begin */
	struct mu_ranges wiped; /* that are zeros in the copy */
	struct mu_known_run *known; /* pages of files that were read */
	size_t num_known;
};

/*
 * Before the stop: list the mappings of process PID. Where the memory for that
 * is missing, everything will be changing.
 */
void mu_shared_pages_list(struct mu_shared_pages *pages, pid_t pid);

/*
 * Before the stop, after the listing: bytes that will be read of these
 * mappings, counted up to MOST. Reads the page map.
 */
size_t mu_shared_pages_expect(struct mu_shared_pages *pages, size_t most);

/*
 * During the stop, if process COPY does not have all that the process of thread
 * TID has mapped: find what is missing. MU_ERR_NO_MEMORY and errors of reading
 * the mappings of the two.
 */
enum mu_status mu_shared_pages_compare(
    struct mu_shared_pages *pages, pid_t tid, pid_t copy, struct mu_why *why);

/*
 * During the stop, until END_NS (CLOCK_MONOTONIC), or LAST_NS for the first 16
 * MiB: read what the process has touched. Small mappings come first. Pages of a
 * file that are mapped twice are read once: only one of the mappings shows
 * them. Ends earlier if END_NS will come long before all is read, at the rate
 * so far, or if there is no more memory.
 */
void mu_shared_pages_take(
    struct mu_shared_pages *pages, uint64_t end_ns, uint64_t last_ns);

/*
 * After the stop: list what was not read. To look for it takes time: 20 ms for
 * a file of 1 GiB with three mappings.
 */
void mu_shared_pages_take_rest(struct mu_shared_pages *pages);

/*
 * Afterwards: what is missing is added to MAPPINGS, those of the copy, in a new
 * array. False: no memory.
 */
bool mu_shared_pages_merge(struct mu_shared_pages *pages,
    struct mu_mapping **mappings, size_t *num_mappings);

/*
 * Afterwards, with the MAPPINGS of the copy: what was mapped
 * since the listing, and what no process has touched. COPY_MEMORY is
 * /proc/COPY/mem. Sorts the parts.
 */
void mu_shared_pages_complete(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns);

#endif
