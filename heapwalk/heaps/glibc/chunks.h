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
	size_t span;           /* set by the walk: index of its span ... */
	uintptr_t end;         /* ... and the first byte behind */
	size_t notes;          /* the walk's own: their index */
};

/* Tries of chains; the bitmaps have a bit for each 16 bytes of the limit. */
struct mu_glibc_probe {
	uint64_t *seen; /* where tries have been: none goes there again */
	size_t budget;  /* chunks that may yet be looked at */
	bool scattered; /* the limit may hold pages that fault */
};

/*
 * Walk each from its limit.begin: to top if it has one, to two fenceposts (main
 * arena: it went on elsewhere), or to the end of the limit (another arena that
 * went on in a new heap). Every chunk that is in use becomes a start bit of a
 * new span, every free one a mark bit and one more in num_free.
 *
 * Workers share the chains. What comes of it, also which chunk is complained
 * of, is the same as if one had walked them one after the other.
 */
enum mu_status mu_glibc_chains_walk(
    struct mu_glibc_walk *walk, struct mu_glibc_chain *chains, size_t count);

/*
 * Could a chunk of the main arena be at ADDRESS, and another one behind it?
 * LIMIT is the stretch, VIEW its bytes. Cheap; for hostile contents.
 */
bool mu_glibc_chunk_plausible(
    struct mu_range limit, const char *view, uintptr_t address);

/*
 * Would a walk of the main arena that starts at FROM, inside chain->limit,
 * come to an end? A probe with SEEN marks its way there and gives up where a
 * probe has been before, so that to try every address is linear.
 */
bool mu_glibc_chain_probe(const struct mu_glibc_walk *walk,
    struct mu_glibc_chain *chain, struct mu_glibc_probe *probe, uintptr_t from);

#endif
