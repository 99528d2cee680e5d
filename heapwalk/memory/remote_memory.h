/*
 * Another process's memory, viewed in ours at other addresses. It is read when
 * first viewed, through /proc/PID/mem.
 *
 * Each run of adjacent mappings is one stretch of reserved address space, so
 * that any range of the subject has a contiguous view. Pages that the subject
 * never wrote are not touched here and cost nothing.
 *
 * view() and fill may be called by one thread at a time; all threads may read
 * what they return.
 *
 * Runs in: keeper, the command.
 */
#ifndef HEAPWALK_MEMORY_REMOTE_MEMORY_H
#define HEAPWALK_MEMORY_REMOTE_MEMORY_H

#include "heapwalk/memory/remote_window.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

/*
 * Whole pages of memory that is not part of the image, such as a shared
 * mapping.
 */
struct mu_remote_part {
	struct mu_range range;
	const char *bytes; /* a copy; NULL: read from the source */
	bool live;         /* read from the process itself */
};

/* Where to read from; not owned. */
struct mu_remote_source {
	pid_t pid;  /* the process or one of its threads */
	int memory; /* /proc/PID/mem of the image */
	int live; /* the same of the process, for memory that the image does not
		     have */
	pid_t still; /* the process if it is stopped and read directly; 0 if a
			copy is read */
	int pagemap; /* of the image */

	/*
	 * /proc/PID/pagemap of the process itself: a fork copies no page tables
	 * of shared memory, so those of the image are empty. -1: all shared
	 * memory counts.
	 */
	int shared_pagemap;
	size_t page_size;

	/*
	 * Bytes kept in our memory at a time, for a subject that does not
	 * change while this is open. 0: keep all that was read.
	 */
	size_t window;

	/*
	 * Pages with data, by address. Set for shared memory if more is known
	 * than SHARED_PAGEMAP shows; only these count then.
	 */
	const struct mu_remote_part *parts;
	size_t num_parts;
	bool has_parts;
};

struct mu_remote_group;

/* Shared memory that is read from its file: heapwalk/memory/map_file.h. */
struct mu_remote_file {
	struct mu_range range;
	int file;
	uint64_t offset; /* in FILE, minus the address; wraps */
};

#define MU_REMOTE_FILES 256

struct mu_remote_memory {
	struct mu_remote_source source;
	const struct mu_mapping *mappings; /* by address, no overlaps */
	size_t num_mappings;
	struct mu_remote_group *groups; /* by address */
	size_t num_groups;
	struct mu_remote_file files[MU_REMOTE_FILES]; /* by address */
	size_t num_files;
	struct mu_memory *memory; /* the interface of this */
	struct mu_remote_window window;
	size_t page_size;
	size_t written; /* bytes that have data */
	size_t unasked; /* bytes of shared memory that may hold data */
	bool detached;
	bool gone;         /* the source has ended: the rest reads as zeros */
	uint64_t until_ns; /* for mu_remote_memory_fill(); 0: no limit */
	uint64_t begin_ns;
	uint64_t needed_ns; /* estimated time to read everything */
	size_t read;        /* bytes read */
	uintptr_t peeked;   /* page of the last small read, with the number of
			       reads in the lower bits */
	bool late;          /* reading was given up */

	/*
	 * Set by the caller: threads that share the reading (NULL: none), and
	 * the time at which reading ends in any case (CLOCK_MONOTONIC; 0:
	 * never). What was not read by then is zeros, and LATE is set.
	 */
	struct mu_workers *workers;
	uint64_t deadline_ns;
};

/*
 * Make MEMORY a view of what MAPPINGS describe (kept, not copied), and read the
 * page map to find pages with data. MU_ERR_NO_MEMORY: these are more than LIMIT
 * bytes. Close in any case.
 */
enum mu_status mu_remote_memory_open(struct mu_memory *memory,
    struct mu_remote_memory *remote, const struct mu_remote_source *source,
    const struct mu_mapping *mappings, size_t num_mappings, size_t limit,
    struct mu_arena *arena, struct mu_why *why);

/*
 * Read all pages with data now, while the subject is stopped; later only
 * unmodified pages of files are read. Returns false if UNTIL_NS
 * (CLOCK_MONOTONIC) came first, or would long before the end.
 */
bool mu_remote_memory_fill(struct mu_memory *memory, uint64_t until_ns);

/*
 * Stop reading: views of anything that was not read fail from now on. The
 * source may be closed.
 */
void mu_remote_memory_detach(struct mu_memory *memory);

/*
 * Make private memory that has data and that the program has made inaccessible
 * (mprotect) readable in MAPPINGS, those given at the open. See
 * mu_memory_self_unlock().
 */
void mu_remote_memory_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t count);

/* Accepts a zeroed MEMORY that was never opened. */
void mu_remote_memory_close(struct mu_memory *memory);

#endif
