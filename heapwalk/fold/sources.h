/*
 * What up to 64 components reach, the sources: bit I of a component's word says
 * that source I reaches it.
 *
 * Edges lead to lower numbers, so components are visited from the highest
 * number down, each once for all sources. What many sources share costs as much
 * as for one of them.
 */
#ifndef HEAPWALK_FOLD_SOURCES_H
#define HEAPWALK_FOLD_SOURCES_H

#include "heapwalk/fold/components.h"

#define MU_SOURCES 64

struct mu_sources {
	struct mu_components *components;
	uint64_t hub; /* sources that reach the hub: not counted below it */
	bool marks;   /* what is reached is below_hub from now on */
	uint32_t count;
	uint32_t left; /* components to visit */

	/* Consecutive components that the same sources reach. */
	uint64_t run;
	struct mu_retained run_sum;

	struct mu_retained *sums[MU_SOURCES]; /* of each source */
};

/*
 * SUMS, in which component is set, are sources; then sum up what each reaches:
 * they are KNOWN, unless the deadline passes. No source leads to another one.
 * components->reach and seen are zero, and are so afterwards if it does not.
 */
void mu_sources_open(
    struct mu_sources *sources, struct mu_components *components);
void mu_sources_add(struct mu_sources *sources, struct mu_retained *sum);
void mu_sources_sum(struct mu_sources *sources);

#endif
