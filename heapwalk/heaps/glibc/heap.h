/* State shared by the steps that read a glibc heap. */
#ifndef HEAPWALK_HEAPS_GLIBC_HEAP_H
#define HEAPWALK_HEAPS_GLIBC_HEAP_H

#include "heapwalk/heaps/glibc/arena.h"
#include "heapwalk/heaps/glibc/notes.h"
#include "heapwalk/heaps/heap.h"
#include "heapwalk/subject/ranges.h"

/* An mmapped chunk. */
struct mu_glibc_mmapped {
	uintptr_t base;  /* address of the mapping */
	uintptr_t chunk; /* address of the chunk's header */
	size_t size;     /* of the chunk */
	bool cached;     /* free, in a tcache; or itself a tcache struct */
	bool is_tcache;  /* it is a tcache struct */
	bool unsure;     /* mp_'s counters do not confirm that it is a chunk */
};

struct mu_glibc_walk {
	const struct mu_snapshot *snap;
	struct mu_arena *memory; /* the pass's arena, not malloc's */
	struct mu_why *why;
	struct mu_heap *heap;
	const struct mu_heap_member *member; /* ours; its state gets the bins */
	struct mu_glibc glibc;

	/* Used by mu_glibc_head(). */
	struct mu_glibc_notes notes;

	/* For each arena: the number of free chunks that the walk saw. */
	size_t *num_free;

	/* Blocks in use that have the size of a tcache struct. */
	uintptr_t *candidates;
	size_t num_candidates, max_candidates;
	bool candidates_full; /* no memory to record more of them */

	/* Stretches of heap, including headers and tops. */
	struct mu_ranges stretches;

	/*
	 * The second word of entries in tcaches, which should be the same in
	 * all.
	 */
	uintptr_t tcache_key;
	bool keys_differ;

	/*
	 * Memory after a foreign sbrk() whose contents may be chunks or only
	 * look like them.
	 */
	struct mu_ranges unproven;

	struct mu_glibc_mmapped *mmapped; /* sorted by address */
	size_t num_mmapped, max_mmapped, mmapped_bytes;
};

/* The word OFFSET bytes behind VIEW, which need not be aligned. */
static inline uintptr_t
mu_glibc_word(const char *view, size_t offset)
{
	uintptr_t word;

	__builtin_memcpy(&word, view + offset, sizeof(word));
	return word;
}

/* The first words of a free chunk: sizes and links. */
struct mu_glibc_head {
	char bytes[MU_GLIBC_MINSIZE];
};

/*
 * The head of CHUNK, in SPAN, for following lists in any order. The result may
 * lie in HEAD.
 */
static inline const char *
mu_glibc_head(const struct mu_glibc_walk *walk, const struct mu_span *span,
    uintptr_t chunk, struct mu_glibc_head *head)
{
	const char *view = NULL;

	if (walk->notes.count > 0 &&
	    mu_glibc_note_of(&walk->notes, chunk, head->bytes))
		return head->bytes;
	if (walk->snap->memory.ops->peek != NULL)
		view = mu_snapshot_peek(
		    walk->snap, chunk, sizeof(head->bytes), head->bytes);
	return view != NULL ? view : span->view + (chunk - span->range.begin);
}

/* A word of malloc_state; 0 if it cannot be read. */
static inline uintptr_t
mu_glibc_arena_word(
    const struct mu_glibc_walk *walk, uintptr_t arena, size_t offset)
{
	uintptr_t word = 0;

	mu_snapshot_word(walk->snap, arena + offset, &word);
	return word;
}

/*
 * True if the page of ADDRESS was ever written; pages with malloc's headers
 * were. Others read as zeros, or, since 2.42, may be guards inside writable
 * memory (MADV_GUARD_INSTALL), which fault.
 */
static inline bool
mu_glibc_written(const struct mu_glibc_walk *walk, uintptr_t address)
{
	struct mu_memory *memory = (struct mu_memory *)&walk->snap->memory;
	uintptr_t begin = address - address % memory->page_size;
	struct mu_range part, page = { begin, begin + memory->page_size };

	return memory->ops->populated(memory, page, &part);
}

/* For members of type int: flags, n_mmaps. */
static inline int
mu_glibc_int(const struct mu_glibc_walk *walk, uintptr_t address)
{
	const char *view = mu_snapshot_view(walk->snap, address, sizeof(int));
	int value = 0;

	if (view != NULL)
		__builtin_memcpy(&value, view, sizeof(value));
	return value;
}

/* Least chunk size of a tcache struct. */
static inline size_t
mu_glibc_tcache_chunk(const struct mu_glibc_walk *walk)
{
	return (walk->glibc.layout->tcache_size + 8u + 15) & ~15u;
}

/*
 * How much larger the chunk may be: 16 bytes if the rest of a free chunk would
 * be too small, and 16 more where tcache_init(), called with an arena, pads the
 * size and _int_malloc() pads it again (2.43).
 */
static inline size_t
mu_glibc_tcache_excess(const struct mu_glibc_walk *walk)
{
	return walk->glibc.layout->tcache_padded_twice ? 32 : 16;
}

/* True if deviations that a known release may show are not accepted. */
static inline bool
mu_glibc_strict(const struct mu_glibc_walk *walk)
{
	return walk->glibc.inferred_from != 0;
}

/* MU_ERR_NO_MEMORY, with its reason in walk->why. */
static inline enum mu_status
mu_glibc_no_memory(struct mu_glibc_walk *walk)
{
	return mu_why(
	    walk->why, MU_ERR_NO_MEMORY, "no memory for the list of blocks");
}

#endif
