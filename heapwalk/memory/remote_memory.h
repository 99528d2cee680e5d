/*
 * Another process's memory, viewed in ours at other addresses. It is
 * filled when first viewed, through a descriptor of /proc/PID/mem.
 *
 * Each run of mappings that touch is one stretch of reserved address space, so
 * that a view is one piece wherever the subject's memory is. Pages that the
 * subject never wrote stay untouched here, and cost nothing.
 *
 * view() and fill may be called by one thread at a time, what they gave may be
 * read by all.
 */
#ifndef HEAPWALK_MEMORY_REMOTE_MEMORY_H
#define HEAPWALK_MEMORY_REMOTE_MEMORY_H

#include "heapwalk/memory/remote_window.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

/* Whole pages of memory that is not the image's own, as of a shared mapping. */
struct mu_remote_part {
	struct mu_range range;
	const char *bytes; /* as they were; NULL: as the source has them */
	bool live;         /* or rather, as the process itself has them */
};

/* Where to read: not owned. */
struct mu_remote_source {
	pid_t pid;   /* of the process itself, or of a thread of it */
	int memory;  /* /proc/PID/mem of the image */
	int live;    /* of the process itself, for memory that the image does
			not have */
	pid_t still; /* the process, which stands still: it is read; 0: it is
			a copy */
	int pagemap; /* of the image */

	/*
	 * Of the process itself: a fork copies no page tables of shared memory,
	 * so that the image's tell nothing there. -1: all of it counts.
	 */
	int shared_pagemap;
	size_t page_size;

	/*
	 * Bytes that are in our memory at a time, for a subject that does not
	 * change as long as this is open. 0: all that was read stays.
	 */
	size_t window;

	/*
	 * Pages that hold something, by address. Of shared memory only these
	 * count, if it is known better than by SHARED_PAGEMAP.
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
	uint64_t offset; /* into FILE, less the address; wraps */
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
	struct mu_memory *memory; /* the interface to this */
	struct mu_remote_window window;
	size_t page_size;
	size_t written; /* bytes that hold something */
	size_t unasked; /* bytes of shared memory that may hold data */
	bool detached;
	bool gone; /* the source has ended: what was not read is zeros */
	uint64_t until_ns; /* for mu_remote_memory_fill(); 0: for ever */
	uint64_t begin_ns;
	uint64_t needed_ns; /* that all of it takes, at the rate so far */
	size_t read;        /* bytes */
	uintptr_t peeked;   /* page that a little was read of last, and how
			       often: in the lower bits */
	bool late;          /* that was given up */

	/*
	 * Set by the caller: threads that share the reading (NULL: none), and
	 * when it ends in any case (CLOCK_MONOTONIC; 0: never): what was not
	 * read until then is zeros, and LATE is set.
	 */
	struct mu_workers *workers;
	uint64_t deadline_ns;
};

/*
 * MEMORY becomes a view of what MAPPINGS describe (kept, not copied). Reads
 * the page map: which pages hold anything. MU_ERR_NO_MEMORY: those are more
 * than LIMIT bytes. To be closed in any case.
 */
enum mu_status mu_remote_memory_open(struct mu_memory *memory,
    struct mu_remote_memory *remote, const struct mu_remote_source *source,
    const struct mu_mapping *mappings, size_t num_mappings, size_t limit,
    struct mu_arena *arena, struct mu_why *why);

/*
 * Read all that holds anything now, while the subject stands still: afterwards
 * the source is only asked for unchanged pages of files. False: UNTIL_NS
 * (CLOCK_MONOTONIC) came first, or would by far.
 */
bool mu_remote_memory_fill(struct mu_memory *memory, uint64_t until_ns);

/*
 * From now on nothing is read any more: there is no view of what was not. The
 * source may be closed.
 */
void mu_remote_memory_detach(struct mu_memory *memory);

/*
 * Private memory that holds something and that the program closed for the time
 * being (mprotect) counts from now on: readable in MAPPINGS, those given
 * at the open. See mu_memory_self_unlock().
 */
void mu_remote_memory_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t count);

/* Accepts what was never opened, if it is zero. */
void mu_remote_memory_close(struct mu_memory *memory);

#endif
