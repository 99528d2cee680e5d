/*
 * Restore memory that a fork leaves out of the image (MADV_DONTFORK) or clears
 * there (MADV_WIPEONFORK), from the original.
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
	 * The original's /proc/PID/mem and pagemap, or -1; valid only while the
	 * original is stopped.
	 */
	int memory, pagemap;
	const struct mu_range
	    *wiped; /* from heapwalk/memory/wiped.h; may be stale */
	size_t num_wiped;
	struct mu_standstill still; /* of the original */
	size_t limit;  /* most bytes to copy: mu_fork_gaps_limit() */
	bool complete; /* no mapping is missing: only fill wiped ranges */

	/* Results. */
	size_t missing; /* mappings that the image did not have */
	size_t lost;    /* pages that may have had data and are zeros now */
};

/*
 * The most bytes that an image may copy: 1 GiB or a quarter of AVAILABLE,
 * whichever is less. AVAILABLE is SIZE_MAX if not known.
 */
size_t mu_fork_gaps_limit(size_t available);

/*
 * For each mapping of SELF that this image does not have, and for the wiped
 * ranges, copy the original's contents. A mapping that exceeds the limit stays
 * zero.
 */
void mu_fork_gaps_fill(struct mu_fork_gaps *gaps,
    const struct mu_memory_self *self, size_t page_size);

#endif
