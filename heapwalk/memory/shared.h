/*
 * Make shared memory private to the image, with its present contents: a fork
 * does not copy it, so it would change while the image is searched.
 *
 * Runs in: sweeper, while the program is stopped.
 */
#ifndef HEAPWALK_MEMORY_SHARED_H
#define HEAPWALK_MEMORY_SHARED_H

#include "heapwalk/memory/self.h"
#include "heapwalk/memory/standstill.h"

struct mu_shared {
	/* Set by the caller. */
	struct mu_standstill still; /* of the program */
	size_t limit;               /* most bytes to copy */
	struct mu_range except;     /* a mapping that stays shared */
	uintptr_t *kept; /* for each mapping, zeroed: see below; or NULL */

	/* Results. */
	size_t taken;    /* bytes made private */
	size_t changing; /* bytes left shared, where time or memory was short */
};

/* True if any of COUNT mappings, except EXCEPT, has such memory. */
bool mu_shared_any(
    const struct mu_mapping *mappings, size_t count, struct mu_range except);

/*
 * Copy the shared mappings of MEMORY, which is guarded
 * (mu_memory_self_guard()), the smallest first. Pages without data are not
 * touched.
 */
void mu_shared_take(struct mu_shared *shared, struct mu_memory *memory);

/* Where the image still shares a mapping. 0: at its own place. */
#define MU_SHARED_ELSEWHERE 1 /* another mapping shows the same */
#define MU_SHARED_NOWHERE 2
#define MU_SHARED_READ 3 /* nowhere, but all of its pages have data */

/*
 * The first part of RANGE in MAPPING, whose place is KEPT, with data now, as
 * PAGES, those of the image, tell.
 */
bool mu_shared_next(struct mu_pages *pages, uintptr_t kept,
    const struct mu_mapping *mapping, struct mu_range range,
    struct mu_range *part);

#endif
