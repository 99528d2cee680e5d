/*
 * A search in progress, and what makes its answer partial.
 *
 * Runs in: sweeper.
 */
#ifndef LIB_HELPERS_SWEEP_H
#define LIB_HELPERS_SWEEP_H

#include "heapwalk/memory/self.h"
#include "heapwalk/refer/referrers.h"
#include "lib/helpers/search.h"
#include "lib/helpers/sweeper.h"
#include "lib/helpers/worker_threads.h"

/* The whole search: later steps may add what is missing. */
struct mu_sweep {
	struct mu_search search;
	struct mu_memory_self self;
	struct mu_pages *pages; /* which are large */
	struct mu_arena tables;
	struct mu_worker_threads threads;
	struct mu_referrers referrers; /* if references were asked for */
	void *stacks; /* stacks of threads, if they must not be mapped in an
			 image */
	const struct mu_in_place_calls *calls; /* in place only; no log then */
	size_t missing; /* pages that a fork left out and that are missing */
};

/*
 * Make the answer partial if something is lost that memory refers to which
 * could not be searched: pages without memory or that a fork clears, shared
 * memory that changes, alternate signal stacks, the memory of other processes.
 */
void mu_sweep_note_all(struct mu_image *image, struct mu_sweep *sweep);

/* Only by memory that is missing since a fork: a search in place has no more.
 */
void mu_sweep_note_missing(struct mu_image *image, struct mu_sweep *sweep);

#endif
