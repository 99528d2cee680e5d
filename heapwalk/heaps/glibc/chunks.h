/* Walk a contiguous range of chunks to its end. */
#ifndef HEAPWALK_HEAPS_GLIBC_CHUNKS_H
#define HEAPWALK_HEAPS_GLIBC_CHUNKS_H

#include "heapwalk/heaps/glibc/heap.h"

struct mu_glibc_chain {
	struct mu_range limit; /* from the first chunk; goes no further */
	const char *view;      /* the subject's bytes at limit.begin */
	size_t arena;          /* index into glibc.arenas */
	uintptr_t top;         /* chunk; 0 = ends without */
	bool main;             /* main arena: may end at fenceposts */
	size_t span;           /* set by the walk: index of its span */
	uintptr_t end;         /* set by the walk: the first byte after it */
	size_t notes;          /* used by the walk: index of its notes */
};

/* State of trial walks; the bitmap has a bit for each 16 bytes of the limit. */
struct mu_glibc_probe {
	uint64_t *seen; /* addresses already tried; no trial goes there again */
	size_t budget;  /* chunks that may still be visited */
	bool scattered; /* the limit may hold pages that fault */
};

/*
 * Walk each chain from its limit.begin: to top if it has one; to two fenceposts
 * (main arena that continued elsewhere); or to the end of the limit (another
 * arena that continued in a new heap). Every chunk in use becomes a start bit
 * of a new span; every free one becomes a mark bit and is counted in num_free.
 *
 * Workers share the chains. The result, including which chunk is reported as
 * broken, is that of a walk in order.
 */
enum mu_status mu_glibc_chains_walk(
    struct mu_glibc_walk *walk, struct mu_glibc_chain *chains, size_t count);

/*
 * True if a chunk of the main arena could be at ADDRESS, with another one after
 * it. LIMIT is the stretch, VIEW its bytes. Cheap; contents may be hostile.
 */
bool mu_glibc_chunk_plausible(
    struct mu_range limit, const char *view, uintptr_t address);

/*
 * True if a walk of the main arena that starts at FROM, inside chain->limit,
 * would reach an end. With SEEN, a probe marks the chunks it visits and gives
 * up where an earlier probe has been, so that trying every address takes linear
 * time.
 */
bool mu_glibc_chain_probe(const struct mu_glibc_walk *walk,
    struct mu_glibc_chain *chain, struct mu_glibc_probe *probe, uintptr_t from);

#endif
