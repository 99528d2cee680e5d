/*
 * Choose the largest elements in the order of the report, before entries are
 * made of them, which take up to five times as much memory.
 */
#ifndef HEAPWALK_FOLD_TOP_N_H
#define HEAPWALK_FOLD_TOP_N_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arena.h"

/*
 * Elements are known by their bytes and by the place of their first block,
 * which no two have in common. Until mu_top_n_end() a heap with the least
 * important element first.
 */
struct mu_top_n {
	/* The bytes of the element at PLACE: used if they exceed 32 bits. */
	size_t (*bytes)(const void *ctx, uint32_t place);
	const void *ctx;

	/*
	 * ~bytes, of which as many as 32 bits can express, and then the place:
	 * by number they are in the order of the report, but for those with
	 * more bytes.
	 */
	uint64_t *keys;
	size_t count, max;
};

/*
 * Make room for MAX; false if memory is exhausted. BYTES and CTX are the
 * caller's to set, before the first element.
 */
bool mu_top_n_open(struct mu_top_n *top, size_t max, struct mu_arena *arena);

/* Add an element; if there is no room it replaces the least important one. */
void mu_top_n_add(struct mu_top_n *top, size_t bytes, uint32_t place);

/* With fewer bytes than this no other one is chosen. */
size_t mu_top_n_least(const struct mu_top_n *top);

/* Sort in the order of the report. */
void mu_top_n_end(struct mu_top_n *top);

/* The place of element I. */
static inline uint32_t
mu_top_n_place(const struct mu_top_n *top, size_t i)
{
	return (uint32_t)top->keys[i];
}

#endif
