/*
 * Does a heap leak, grow or fragment, or is it steady, by its totals at a
 * series of looks.
 *
 * Pure.
 */
#ifndef LIB_GROWTH_HEAP_GROWTH_H
#define LIB_GROWTH_HEAP_GROWTH_H

#include "lib/growth/growth.h"
#include "lib/growth/kept.h"
#include "memunreachable/memunreachable.h"

/* Bytes of the heap at a look. */
enum mu_heap_total {
	MU_HEAP_LIVE,
	MU_HEAP_LOST,
	MU_HEAP_FREE,
	MU_HEAP_ALL, /* these three */
	MU_HEAP_TOTALS
};

struct mu_heap_growth {
	struct mu_growth lost, live;
	struct mu_growth held_free; /* grows only if all of the heap does */
	uint64_t few;               /* live bytes that are no growth */
};

/* TOTALS at the kept looks, at TIMES_NS, which rise. */
void mu_heap_growth_judge(struct mu_heap_growth *heap, const uint64_t *times_ns,
    const uint64_t totals[MU_HEAP_TOTALS][MU_KEPT_LOOKS], size_t count);

/* The worst that HEAP shows, and *GROWTH of that; none if it is STEADY. */
enum MemunreachableVerdict mu_heap_growth_verdict(
    const struct mu_heap_growth *heap, struct mu_growth *growth);

/* The verdict of so few looks that the growth does not matter; else STEADY. */
enum MemunreachableVerdict mu_kept_verdict(const struct mu_kept *kept);

#endif
