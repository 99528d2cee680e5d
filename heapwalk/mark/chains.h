/*
 * Long chains: nodes with one edge each, in no order, so that each costs a miss
 * of main memory before the next one is known.
 *
 * One node in 1024 is a sample, chosen by its number alone. Chains are followed
 * from many samples at once, each up to the next sample, without marking. When
 * marking reaches a sample it then knows which samples the chain leads to, and
 * the stretches between them are marked many at once.
 */
#ifndef HEAPWALK_MARK_CHAINS_H
#define HEAPWALK_MARK_CHAINS_H

#include "heapwalk/graph/graph.h"

#define MU_SAMPLE_NODES 1024 /* one of so many is a sample */

struct mu_chains {
	const struct mu_graph *graph;
	uint64_t deadline_ns;
	size_t steps, far; /* of one after the other; to another cache line */
	bool tried;

	/* NULL: not surveyed. 1 + the sample that each leads to; 0: unknown. */
	uint32_t *next;
	uint32_t *reached; /* samples whose stretches are to be marked */
	size_t num_samples, num_reached;
	size_t ticket;
	bool marking, late;
	bool spread; /* bits of what was followed, marks when all are there */
};

void mu_chains_open(struct mu_chains *chains, const struct mu_graph *graph,
    uint64_t deadline_ns);

/* STEPS more were taken one by one, FAR of them far: is a survey due? */
void mu_chains_count(struct mu_chains *chains, size_t steps, size_t far);

/* NODE, a sample, is reached: the first node of its chain not marked here. */
uint32_t mu_chains_follow(struct mu_chains *chains, uint32_t node);

static inline uint32_t
mu_sample_node(size_t sample)
{
	return (uint32_t)sample * MU_SAMPLE_NODES +
	    ((uint32_t)sample * 2654435761u >> 22); /* Fibonacci hashing */
}

static inline bool
mu_chains_sample(const struct mu_chains *chains, uint32_t node)
{
	return chains->next != NULL &&
	    mu_sample_node(node / MU_SAMPLE_NODES) == node;
}

#endif
