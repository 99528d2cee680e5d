/*
 * Memory that an image shares with other processes: a fork does not copy it, so
 * it keeps changing while the image is searched. Here it becomes private to the
 * image, with the contents that it has now.
 *
 * Runs in: sweeper, while the program stands still.
 */
#ifndef HEAPWALK_MEMORY_SHARED_H
#define HEAPWALK_MEMORY_SHARED_H

#include "heapwalk/memory/self.h"
#include "heapwalk/memory/standstill.h"

struct mu_shared {
	/* Set by the caller. */
	struct mu_standstill still; /* of the program */
	size_t limit;               /* bytes that are copied at most */
	struct mu_range except;     /* a mapping that stays shared */

	/* What was found. */
	size_t taken;    /* bytes that are private now */
	size_t changing; /* bytes that are not, for want of time or memory */
};

/* Does any of COUNT mappings hold such memory, but for EXCEPT? */
bool mu_shared_any(
    const struct mu_mapping *mappings, size_t count, struct mu_range except);

/*
 * Copy what MEMORY's mappings share, the smallest first. MEMORY is guarded
 * (mu_memory_self_guard). Pages that hold nothing are not touched.
 */
void mu_shared_take(struct mu_shared *shared, struct mu_memory *memory);

#endif
