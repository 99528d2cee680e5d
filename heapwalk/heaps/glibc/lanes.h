/*
 * Linked lists of free chunks, each followed in many places at once.
 *
 * To follow a list is to wait for memory at each link. So some chunks are
 * picked that may be on one; each begins a segment that goes on to the next
 * one that was picked, or to the end of its list, as do the heads of the lists.
 * Segments are followed side by side, the line of each one's next chunk called
 * for while the others are looked at. Then a list must be segments that join.
 *
 * All is only read, but for a bit of each chunk that was picked, until the
 * segments are closed.
 *
 * A heap of 10^6 blocks, half of them freed in random order (2 cores Xeon,
 * kernel 6.18, one worker, walk included): 190 ms one link after the other,
 * 100 ms so; with nothing freed 57 to 65.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_LANES_H
#define HEAPWALK_HEAPS_GLIBC_LANES_H

#include "heapwalk/heaps/glibc/heap.h"

#define MU_CHUNK_SIZE 8 /* offsets in a chunk */
#define MU_CHUNK_FD 16
#define MU_CHUNK_BK 24

#define MU_BIN_NONE 0     /* of an empty segment */
#define MU_BIN_UNSORTED 1 /* for chunks of any size */

struct mu_glibc_segment {
	uintptr_t first; /* chunk that was picked, or what has the head of a
			    list where a chunk has its fd */
	uintptr_t last;  /* chunk, or FIRST if there is none, and ... */
	uintptr_t end;   /* ... what it leads to */
	size_t arena, count;
	size_t bin; /* that its chunks belong in: MU_BIN_UNSORTED if in several;
		       of fastbins, one more than its number */
	bool broken; /* a rule is, somewhere */
	bool joined; /* for the caller */
};

struct mu_glibc_lanes {
	struct mu_glibc_walk *walk;
	bool fast; /* fastbins: linked one way, their chunks count as in use */
	struct mu_glibc_segment *segments; /* picked ones by address; heads */
	size_t num_picked, count;
	size_t next;             /* index of the next one to take */
	size_t steps, max_steps; /* of all: false ones may go in circles */
};

/*
 * Room for NUM_HEADS heads; some chunks are picked. Fails without memory. Close
 * in any other case.
 */
bool mu_glibc_lanes_open(struct mu_glibc_lanes *lanes,
    struct mu_glibc_walk *walk, bool fast, size_t num_heads);
void mu_glibc_lanes_close(struct mu_glibc_lanes *lanes);

/* Add a head, whose link is at HEAD + MU_CHUNK_FD. */
void mu_glibc_lanes_add(
    struct mu_glibc_lanes *lanes, uintptr_t head, size_t arena);

/*
 * Follow all segments. A chunk in one of them that is not broken is in its
 * arena's memory, was free when the walk saw it (or in use, for fastbins), and
 * its bk leads back to the one before it (but for fastbins).
 */
void mu_glibc_lanes_follow(struct mu_glibc_lanes *lanes);

/* The segment that begins at CHUNK; NULL if none was picked there. */
struct mu_glibc_segment *mu_glibc_lanes_at(
    struct mu_glibc_lanes *lanes, uintptr_t chunk);

/* Take the chunks of joined segments, of fastbins, out of the live blocks. */
void mu_glibc_lanes_take(struct mu_glibc_lanes *lanes);

#endif
