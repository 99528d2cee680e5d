/*
 * Long chains: nodes with one edge each, in random order, so that each step
 * waits for main memory before the next one is known.
 *
 * One node in 1024 is a sample, chosen by its number alone. Chains are followed
 * from many samples at once, each up to the next sample, without marking. When
 * marking reaches a sample, the samples that its chain leads to are then known,
 * and the stretches between them are marked in parallel.
 */
#ifndef HEAPWALK_MARK_CHAINS_H
#define HEAPWALK_MARK_CHAINS_H

#include "heapwalk/graph/graph.h"

#define MU_SAMPLE_NODES 1024 /* one in so many is a sample */

struct mu_chains {
	const struct mu_graph *graph;
	uint64_t deadline_ns;
	size_t steps, far; /* single steps; those to another cache line */
	bool tried;

	/*
	 * NULL: not surveyed. 1 + the sample that each one leads to; 0:
	 * unknown.
	 */
	uint32_t *next;
	uint32_t *reached; /* samples whose stretches have to be marked */
	size_t num_samples, num_reached;
	size_t unit;
	bool marking, late;
	bool spread; /* followed nodes have bits, which become marks at the end
		      */
};

/*
 * CHAINS begins without a survey. GRAPH must outlive it; DEADLINE_NS is
 * CLOCK_MONOTONIC. Memory is from the graph's arena: nothing has to be closed.
 */
void mu_chains_open(struct mu_chains *chains, const struct mu_graph *graph,
    uint64_t deadline_ns);

/*
 * Account for STEPS single steps, FAR of them to another cache line; starts a
 * survey if it is worth it.
 */
void mu_chains_count(struct mu_chains *chains, size_t steps, size_t far);

/*
 * A sample, NODE, is reached. Returns the first node of its chain that is not
 * marked here.
 */
uint32_t mu_chains_follow(struct mu_chains *chains, uint32_t node);

/*
 * The node that is the sample with this number: one of each MU_SAMPLE_NODES, at
 * a position that no regular structure shares.
 */
static inline uint32_t
mu_sample_node(size_t sample)
{
	return (uint32_t)sample * MU_SAMPLE_NODES +
	    ((uint32_t)sample * 2654435761u >> 22); /* Fibonacci hashing */
}

/* True if NODE is a sample and a survey has been made. */
static inline bool
mu_chains_sample(const struct mu_chains *chains, uint32_t node)
{
	return chains->next != NULL &&
	    mu_sample_node(node / MU_SAMPLE_NODES) == node;
}

#endif
