/*
 * Chunk after chunk of a chain, or of a part of it.
 *
 *	chunk -> prev_size	(of the chunk before, if that is free)
 *		 size | flags	(PREV_INUSE: the chunk before is in use)
 *	block -> usable bytes, up to and with the next chunk's prev_size
 */
#ifndef HEAPWALK_HEAPS_GLIBC_STEP_H
#define HEAPWALK_HEAPS_GLIBC_STEP_H

#include "heapwalk/heaps/glibc/chunks.h"
#include "heapwalk/subject/read_buffer.h"

#define MU_GLIBC_SIZE 8          /* offset of the size word */
#define MU_GLIBC_FENCE_SIZE 0x10 /* CHUNK_HDR_SZ: malloc hands out no such */
#define MU_GLIBC_BAD_BITS (MU_IS_MMAPPED | 8)
#define MU_GLIBC_NO_TOP SIZE_MAX

/*
 * The part of a chain that one thread can read without a fault; offsets from
 * limit.begin.
 */
struct mu_glibc_near {
	struct mu_read_buffer *buffer;
	const char *view; /* the bytes at offset 0, were they in the part */
	size_t begin, end;
};

/* What a chain's chunks must be like; offsets from its limit.begin. */
struct mu_glibc_rules {
	const char *view;
	struct mu_glibc_near *near;           /* changes as the walk goes on */
	struct mu_glibc_stretch_notes *notes; /* NULL: none are made */
	bool in_place;                        /* no buffer is needed */
	bool fast;         /* notes of chunks that fastbins may have ... */
	bool safe_linking; /* ... whose links are mangled */
	struct mu_range limit;
	size_t end; /* of the stretch, as far as known */
	size_t top; /* chunk, or MU_GLIBC_NO_TOP */
	bool main;
	size_t page_size;
	uintptr_t flags; /* that a chunk in use must have */
	size_t tcache;   /* size of a tcache's chunk, at least ... */
	size_t excess;   /* ... and at most so much more */
};

/* Where a walk is and what it met. */
struct mu_glibc_step {
	const struct mu_glibc_rules *rules;
	struct mu_span *span; /* gets the bits */
	size_t at;
	size_t count, bytes, num_free;
	size_t num_candidates; /* in use, of the size of a tcache */
	bool ended;
	size_t end; /* once it did: first byte behind the chain */
};

/*
 * NEAR is the calling thread's, and read by BUFFER. Both must stay where they
 * are.
 */
void mu_glibc_rules_open(struct mu_glibc_rules *rules,
    const struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain,
    struct mu_glibc_near *near, struct mu_read_buffer *buffer);

/* What begins at AT, up to STOP and the header there or less, by BUFFER. */
struct mu_glibc_near mu_glibc_near_fill(struct mu_read_buffer *buffer,
    const struct mu_glibc_rules *rules, size_t at, size_t stop);

/* What lies at AT of a chain, a header, wherever that is. */
static inline const char *
mu_glibc_header_at(const struct mu_glibc_rules *rules, size_t at)
{
	const struct mu_glibc_near *near = rules->near;

	return at >= near->begin && at + MU_GLIBC_HEADER <= near->end
	    ? near->view + at
	    : rules->view + at;
}

/*
 * Go on from step->at to the first chunk at STOP or behind it, or to the end
 * of the chain: to top if there is one, to two fenceposts (main arena: it went
 * on elsewhere), or to the end of the stretch (another arena that went on in a
 * new heap). A chunk in use becomes a start bit, a free one a mark bit, a
 * candidate both. NULL, or the rule that the chunk at step->at breaks.
 */
const char *mu_glibc_step_until(struct mu_glibc_step *step, size_t stop);

/*
 * Fenceposts at AT, the last of which ends with a page, as top did before
 * (sysmalloc() asserts it). Returns the end of the stretch, or 0.
 */
size_t mu_glibc_fence_end(
    struct mu_range limit, const char *view, size_t page_size, size_t at);

#endif
