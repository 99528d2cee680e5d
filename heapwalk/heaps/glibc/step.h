/*
 * Walk a chain, or a part of it, chunk by chunk.
 *
 * chunk -> prev_size	(of the chunk before, if that is free)
 *	 size | flags	(PREV_INUSE: the chunk before is in use)
 * block -> usable bytes, up to and with the next chunk's prev_size
 */
#ifndef HEAPWALK_HEAPS_GLIBC_STEP_H
#define HEAPWALK_HEAPS_GLIBC_STEP_H

#include "heapwalk/heaps/glibc/chunks.h"
#include "heapwalk/subject/read_buffer.h"

#define MU_GLIBC_SIZE 8          /* offset of the size word */
#define MU_GLIBC_FENCE_SIZE 0x10 /* CHUNK_HDR_SZ: malloc hands out no such */
#define MU_GLIBC_BAD_BITS (MU_IS_MMAPPED | 8)
#define MU_GLIBC_NO_TOP SIZE_MAX
#define MU_GLIBC_FETCHED ((size_t)4096) /* bytes prefetched by the line */

/*
 * The part of a chain that one thread can read without a fault, as offsets from
 * limit.begin.
 */
struct mu_glibc_near {
	struct mu_read_buffer *buffer;
	const char *view; /* the bytes at offset 0, were they in the part */
	size_t begin, end;
};

/* Rules for the chunks of a chain, as offsets from its limit.begin. */
struct mu_glibc_rules {
	const char *view;
	struct mu_glibc_near *near;           /* moves as the walk advances */
	struct mu_glibc_stretch_notes *notes; /* NULL: make no notes */
	size_t group; /* bytes whose pages are prefetched at once; 0: they are
			 in a buffer */
	bool fast;    /* note chunks that may be in fastbins */
	bool safe_linking; /* their links are mangled */
	struct mu_range limit;
	size_t end; /* end of the stretch, as far as known */
	size_t top; /* offset of the top chunk, or MU_GLIBC_NO_TOP */
	bool main;
	size_t page_size;
	uintptr_t flags; /* flags of every chunk in use */
	size_t tcache;   /* least size of a tcache's chunk */
	size_t excess;   /* how much larger it may be */
};

/* Position and results of a walk. */
struct mu_glibc_step {
	const struct mu_glibc_rules *rules;
	struct mu_span *span; /* receives the bits */
	size_t at;
	size_t count, bytes, num_free;
	size_t num_candidates; /* in use, of the size of a tcache */
	bool ended;
	size_t end; /* at the end: the first byte after the chain */
};

/*
 * NEAR belongs to the calling thread and is filled through BUFFER. Both must
 * stay where they are.
 */
void mu_glibc_rules_open(struct mu_glibc_rules *rules,
    const struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain,
    struct mu_glibc_near *near, struct mu_read_buffer *buffer);

/*
 * Read what begins at AT, up to STOP and the header there or less, through
 * BUFFER.
 */
struct mu_glibc_near mu_glibc_near_fill(struct mu_read_buffer *buffer,
    const struct mu_glibc_rules *rules, size_t at, size_t stop);

/* The bytes at AT, a header of the chain, wherever they are in our memory. */
static inline const char *
mu_glibc_header_at(const struct mu_glibc_rules *rules, size_t at)
{
	const struct mu_glibc_near *near = rules->near;

	return at >= near->begin && at + MU_GLIBC_HEADER <= near->end
	    ? near->view + at
	    : rules->view + at;
}

/*
 * Walk from step->at to the first chunk at or after STOP, or to the end of the
 * chain: top if there is one; two fenceposts (main arena that continued
 * elsewhere); or the end of the stretch (another arena that continued in a new
 * heap). A chunk in use becomes a start bit, a free one a mark bit, a chunk of
 * a tcache's size both. Returns NULL, or the rule that the chunk at step->at
 * breaks.
 */
const char *mu_glibc_step_until(struct mu_glibc_step *step, size_t stop);

/*
 * If fenceposts are at AT, the last of which ends with a page, as top did
 * before (sysmalloc() asserts it), returns the end of the stretch; otherwise 0.
 */
size_t mu_glibc_fence_end(
    struct mu_range limit, const char *view, size_t page_size, size_t at);

#endif
