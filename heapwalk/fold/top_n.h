/*
 * The largest elements in the order of the report, chosen before entries are
 * made of them, which take up to three times as much each.
 */
#ifndef HEAPWALK_FOLD_TOP_N_H
#define HEAPWALK_FOLD_TOP_N_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arena.h"

/* In mu_chosen.owner: the number of a group, not of a component. */
#define MU_GROUP 0x80000000u

/* An owner, or a group of them, and what decides where it is reported. */
struct mu_chosen {
	size_t bytes;
	uint32_t lowest, owner;
};

/* Until mu_top_n_end() the least important is the first: a heap. */
struct mu_top_n {
	struct mu_chosen *owners;
	size_t count, max;
};

/* Room for MAX; false: no memory. */
bool mu_top_n_open(struct mu_top_n *top, size_t max, struct mu_arena *arena);

/* OWNER takes the place of the least important one, if there is no room. */
void mu_top_n_add(struct mu_top_n *top, const struct mu_chosen *owner);

/* Put them in order: the one that is reported first comes first. */
void mu_top_n_end(struct mu_top_n *top);

#endif
