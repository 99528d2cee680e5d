/*
 * A set of addresses as sorted ranges, to subtract ranges and enumerate the
 * rest.
 *
 * Add ranges in any order, seal, then query.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_SUBJECT_RANGES_H
#define HEAPWALK_SUBJECT_RANGES_H

#include "mu/arena.h"
#include "mu/bisect.h"
#include "mu/range.h"

struct mu_ranges {
	struct mu_range *items; /* after seal: rising, apart, none empty */
	size_t count, max;
	struct mu_arena *arena;
};

/* Make an empty set whose memory comes from ARENA. */
void mu_ranges_open(struct mu_ranges *set, struct mu_arena *arena);

/*
 * Add RANGE; an empty one is ignored. Returns false, with the set unchanged, if
 * memory is exhausted.
 */
bool mu_ranges_add(struct mu_ranges *set, struct mu_range range);

/* Add COUNT ranges. */
bool mu_ranges_add_all(
    struct mu_ranges *set, const struct mu_range *ranges, size_t count);

/*
 * Sort, and merge overlapping or adjacent ranges. To add more, seal again
 * afterwards.
 */
void mu_ranges_seal(struct mu_ranges *set);

/* True if ADDRESS is in one of the ranges of SET, which is sorted. */
bool mu_ranges_has(const struct mu_ranges *set, uintptr_t address);

/*
 * Split off the longest front of REST that is wholly inside or wholly outside
 * the set. Returns false if REST is empty.
 */
bool mu_ranges_cut(const struct mu_ranges *set, struct mu_range *rest,
    struct mu_range *piece, bool *inside);

/*
 * Remove from REST everything up to the end of its first part outside the set.
 */
bool mu_ranges_gap(
    const struct mu_ranges *set, struct mu_range *rest, struct mu_range *piece);

/*
 * For COUNT objects, STRIDE bytes apart and sorted by the range with which each
 * begins: the index of the first that begins after ADDRESS.
 */
static inline size_t
mu_ranges_upper(
    const void *ranges, size_t count, size_t stride, uintptr_t address)
{
	const struct mu_range *range;
	size_t low = 0;

	mu_bisect(low, count, i,
	    (range = (const void *)((const char *)ranges + i * stride),
		range->begin <= address));
	return low;
}

#endif
