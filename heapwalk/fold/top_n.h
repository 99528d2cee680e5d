/*
 * Choose the largest elements in the order of the report, before entries are
 * made of them, which take up to three times as much memory.
 */
#ifndef HEAPWALK_FOLD_TOP_N_H
#define HEAPWALK_FOLD_TOP_N_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arena.h"

/*
 * Flag in mu_chosen.owner: the number is that of a group, not of a component.
 */
#define MU_GROUP 0x80000000u

/* An owner or a group, with what determines its position in the report. */
struct mu_chosen {
	size_t bytes;
	uint32_t lowest, owner;
};

/* Until mu_top_n_end() a heap with the least important element first. */
struct mu_top_n {
	struct mu_chosen *owners;
	size_t count, max;
};

/* Make room for MAX; false if memory is exhausted. */
bool mu_top_n_open(struct mu_top_n *top, size_t max, struct mu_arena *arena);

/* Add OWNER; if there is no room it replaces the least important one. */
void mu_top_n_add(struct mu_top_n *top, const struct mu_chosen *owner);

/* With fewer bytes than this no other one is chosen. */
static inline size_t
mu_top_n_least(const struct mu_top_n *top)
{
	return top->count < top->max ? 0 : top->owners[0].bytes;
}

/* Sort in the order of the report. */
void mu_top_n_end(struct mu_top_n *top);

#endif
