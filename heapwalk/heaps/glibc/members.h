/* Chunks that may be on a list, for heapwalk/heaps/glibc/segments.h. */
#ifndef HEAPWALK_HEAPS_GLIBC_MEMBERS_H
#define HEAPWALK_HEAPS_GLIBC_MEMBERS_H

#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/segments.h"
#include "heapwalk/heaps/spans.h"

/* The number of CHUNK's bit: the grain of SPAN in which its block begins. */
static inline size_t
mu_member_bit(const struct mu_span *span, uintptr_t chunk)
{
	return (chunk + MU_GLIBC_HEADER - span->range.begin) / MU_GRAIN;
}

/* The bits of chunks that may be on a list. */
static inline uint64_t *
mu_member_bits(const struct mu_glibc_segments *set, const struct mu_span *span,
    size_t word)
{
	return set->fast ? mu_span_starts(span, word)
			 : mu_span_marks(span, word);
}

/*
 * The other bits, which are clear for these chunks; used to mark picked ones.
 */
static inline uint64_t *
mu_member_picked(const struct mu_glibc_segments *set,
    const struct mu_span *span, size_t word)
{
	return set->fast ? mu_span_marks(span, word)
			 : mu_span_starts(span, word);
}

/*
 * True if CHUNK, read from the subject, can be a chunk of ARENA that begins in
 * SPAN: inside, aligned, with room for the smallest chunk.
 */
static inline bool
mu_member_is_in(const struct mu_span *span, size_t arena, uintptr_t chunk)
{
	return mu_range_has(span->range, chunk) && span->owner == arena &&
	    span->range.end - chunk >= MU_GLIBC_MINSIZE &&
	    chunk % MU_GRAIN == 0;
}

/* The size in the chunk head at VIEW: see mu_glibc_head(). */
static inline size_t
mu_member_size(const char *view)
{
	return mu_glibc_word(view, MU_CHUNK_SIZE) & ~(uintptr_t)MU_SIZE_FLAGS;
}

/* The address that CHUNK, whose head is at VIEW, links to. */
static inline uintptr_t
mu_member_next(
    const struct mu_glibc_segments *set, const char *view, uintptr_t chunk)
{
	uintptr_t link = mu_glibc_word(view, MU_CHUNK_FD);

	return set->fast ? mu_glibc_link(set->walk, chunk + MU_CHUNK_FD, link)
			 : link;
}

#endif
