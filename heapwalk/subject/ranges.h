/*
 * A set of addresses, as sorted ranges: subtract ranges, and enumerate the
 * rest.
 *
 * Add ranges in any order, seal, then ask.
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

void mu_ranges_open(struct mu_ranges *set, struct mu_arena *arena);

/* An empty range is dropped. False: no memory, the set is as before. */
bool mu_ranges_add(struct mu_ranges *set, struct mu_range range);

/* As above, COUNT of them. */
bool mu_ranges_add_all(
    struct mu_ranges *set, const struct mu_range *ranges, size_t count);

/* Sort, and join what overlaps or touches. More may be added; seal again. */
void mu_ranges_seal(struct mu_ranges *set);

bool mu_ranges_has(const struct mu_ranges *set, uintptr_t address);

/*
 * Cut the longest piece off the front of REST that is wholly inside the set
 * or wholly outside. False: REST is empty.
 */
bool mu_ranges_cut(const struct mu_ranges *set, struct mu_range *rest,
    struct mu_range *piece, bool *inside);

/* Cut off up to the end of the first piece of REST that is outside the set. */
bool mu_ranges_gap(
    const struct mu_ranges *set, struct mu_range *rest, struct mu_range *piece);

/*
 * COUNT objects, STRIDE bytes apart and sorted by the range that each begins
 * with: the index of the first that begins past ADDRESS.
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

/* What seal promises (for tests). */
bool mu_ranges_check(const struct mu_ranges *set);

#endif
