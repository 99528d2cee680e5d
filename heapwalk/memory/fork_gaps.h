/*
 * Memory of the subject that a fork leaves out of the image (MADV_DONTFORK) or
 * empties there (MADV_WIPEONFORK): restore it from the original.
 *
 * Runs in: sweeper.
 */
#ifndef HEAPWALK_MEMORY_FORK_GAPS_H
#define HEAPWALK_MEMORY_FORK_GAPS_H

#include "heapwalk/memory/standstill.h"
#include "heapwalk/subject/snapshot.h"

struct mu_memory_self;

struct mu_fork_gaps {
	/*
	 * Descriptors of the original's /proc/PID/mem and pagemap, or -1; good
	 * only while the original stands still.
	 */
	int memory, pagemap;
	const struct mu_range
	    *wiped; /* by heapwalk/memory/wiped.h; may be stale */
	size_t num_wiped;
	struct mu_standstill still; /* of the original */
	size_t limit;  /* bytes brought over at most: mu_fork_gaps_limit() */
	bool complete; /* nothing is missing: only wiped ranges are filled */

	/* What was found. */
	size_t missing; /* mappings that the image had no part of */
	size_t lost;    /* pages that could hold something and are zeros now */
};

/*
 * Bytes that an image may copy in all: 1 GiB or a quarter of what is AVAILABLE,
 * whichever is less. SIZE_MAX: nothing tells what is.
 */
size_t mu_fork_gaps_limit(size_t available);

/*
 * Fill every place that SELF's mappings describe and this image has no memory
 * at, and the wiped ranges, with what the original has there. A mapping that
 * does not fit any more into the limit stays zero.
 */
void mu_fork_gaps_fill(struct mu_fork_gaps *gaps,
    const struct mu_memory_self *self, size_t page_size);

#endif
