/*
 * The live blocks of the subject, found by any address inside them.
 *
 * Two shapes, one table:
 * - a span is a stretch of heap with one block or gap behind the other. One bit
 *   per 16 bytes says "a live block starts here", another one "what begins
 *   before here ends here". Bits beat any search tree: 3/128 of the heap, no
 *   pointer to chase, and an interior address resolves by the nearest bits
 *   before and behind it (a summary bit per bitmap word skips large blocks).
 * - a listed block stands alone (one with a mapping of its own, one that the
 *   program itself named): a sorted array of ranges.
 *
 * Heap back ends fill it (add spans and blocks, set and clear start bits, then
 * mu_blocks_seal()). mu_blocks_number() gives every block a number, by address;
 * from then on blocks are told apart by their numbers.
 */
#ifndef HEAPWALK_HEAPS_BLOCKS_H
#define HEAPWALK_HEAPS_BLOCKS_H

#include "heapwalk/subject/reach.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

#define MU_GRAIN 16 /* bytes a bit: blocks in spans are aligned to it */

struct mu_recorder;    /* heapwalk/recorded/recorded.h */
struct mu_heap_member; /* heapwalk/heaps/heap.h */

struct mu_span {
	struct mu_range range; /* begin is a multiple of MU_GRAIN */
	const char *view;      /* the subject's bytes at range.begin */
	uint64_t *bits;        /* start bits: mu_span_starts() */
	uint64_t *bounds;      /* bit i: a block or a gap begins at grain i */
	uint64_t *summary;     /* bit j: word j of bounds is not 0 */
	size_t num_words;      /* of start bits, and of bounds */
	size_t tail; /* bytes between a block's end and the next bound; less
			than a grain; set by the back end */
	size_t count, bytes; /* of live blocks; usable bytes */
	uint32_t first;      /* block, by number */

	const struct mu_heap_member *heap; /* whose it is; or NULL */

	/* The back end's own: which arena; bytes that were free on the walk. */
	size_t owner, free, top;
};

struct mu_listed {
	struct mu_range range;
	const char *view;
	bool keep; /* never a leak and a root: could not be proven to be live
		      malloc memory */
	uint32_t number;
	size_t order;                      /* of addition */
	const struct mu_heap_member *heap; /* whose it is; or NULL */
};

struct mu_blocks {
	struct mu_arena *arena;
	struct mu_span *spans; /* by address after seal */
	size_t num_spans, max_spans;
	bool spans_mixed;         /* not by address yet */
	struct mu_listed *listed; /* by address after seal */
	size_t num_listed, max_listed;

	/* The allocators whose blocks these are. */
	const struct mu_heap_member *heaps;
	size_t num_heaps;
	bool last_words; /* set by marking: words that look like old links
			    are the program's (mu_heap_ops.link()) */

	/* Which words refer to blocks (heapwalk/graph/references.h). */
	struct mu_word_rule words;

	bool no_headers; /* mu_reference_by_header() finds none */
	bool encodings;  /* heapwalk/graph/encodings.h may find some */

	/*
	 * Executable memory with blocks in it, by address: what a program
	 * generates in memory from malloc (mu_references_find_code()).
	 */
	const struct mu_range *code;
	size_t num_code;

	/* Records of their allocation; NULL: there is no recorder. */
	const struct mu_recorder *recorder;

	/* Threads that share the work (heapwalk/subject/workers.h); may be
	 * NULL. */
	struct mu_workers *workers;

	/* Set by seal. */
	struct mu_range envelope; /* lowest begin, highest end */
	size_t count, bytes;      /* of all live blocks; usable bytes */
	bool sealed;
	bool numbered; /* mu_blocks_number() */

	/*
	 * Set by mu_blocks_unmark(), for each number: a byte that is not 0 if
	 * it was reached (of a byte any worker can set its own at any time,
	 * and without looking: a tenth of the time that bits take), and a bit
	 * that says whether it was followed to what it refers to.
	 */
	uint8_t *marks;
	uint64_t *followed;
};

struct mu_block {
	struct mu_range range; /* usable bytes [begin, end) */
	const char *view;      /* the subject's bytes at range.begin */
	uint32_t number;
	struct mu_listed *listed;          /* NULL: it is in a span */
	const struct mu_heap_member *heap; /* whose it is; or NULL */
	uint8_t *mark;                     /* NULL: it has none yet */
};

/*
 * Bit i of WORD: a live block starts at range.begin + 16 (64 WORD + i).
 *
 * These words take turns with those of mu_span_marks(), so that a look at both
 * costs one cache line in place of two.
 */
static inline uint64_t *
mu_span_starts(const struct mu_span *span, size_t word)
{
	return &span->bits[2 * word];
}

/*
 * The back end's own until mu_blocks_number(), which puts ranks in their place:
 * bits beside the start bits.
 */
static inline uint64_t *
mu_span_marks(const struct mu_span *span, size_t word)
{
	return &span->bits[2 * word + 1];
}

/*
 * From mu_blocks_number() on: the number of the first block that starts in
 * WORD or behind it. WORD may be num_words: the end of the last block's.
 */
static inline uint32_t
mu_span_rank(const struct mu_span *span, size_t word)
{
	return (uint32_t)*mu_span_marks(span, word);
}

/* Without an instruction for it gcc calls a function: no CPU is asked for. */
static inline uint32_t
mu_popcount(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555ull;
	bits = (bits & 0x3333333333333333ull) +
	    (bits >> 2 & 0x3333333333333333ull);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (uint32_t)(bits * 0x0101010101010101ull >> 56);
}

/* The number of the block whose start bit is BIT of WORD. */
static inline uint32_t
mu_span_number(const struct mu_span *span, size_t word, unsigned bit)
{
	uint64_t below = *mu_span_starts(span, word) & ((1ull << bit) - 1);

	return mu_span_rank(span, word) + mu_popcount(below);
}

void mu_blocks_open(struct mu_blocks *blocks, struct mu_arena *arena);

/*
 * Add the heap stretch RANGE (aligned inwards to MU_GRAIN) whose bytes are at
 * VIEW, without blocks. NULL if there is no memory. The span moves when others
 * are added: take it by index (blocks->spans[i]) until the table is sealed.
 */
struct mu_span *mu_blocks_add_span(
    struct mu_blocks *blocks, struct mu_range range, const char *view);

/*
 * Add one block. Accepted if it overlaps no listed block and no span; a block
 * of no bytes counts as one byte. The check for overlaps is made by
 * mu_blocks_seal(), which keeps the first one added and counts the others in
 * *REJECTED. MU_ERR_ARGUMENT for a range that ends before it begins.
 */
enum mu_status mu_blocks_add(struct mu_blocks *blocks, struct mu_range range,
    const char *view, bool keep);

/*
 * Is a live block's first byte at ADDRESS (span blocks only)?
 *
 * Set: a block of SIZE usable bytes, none of them in another block. False, and
 * nothing is set, unless it begins at a multiple of MU_GRAIN, ends span->tail
 * bytes before one, and lies in the span.
 *
 * Clear: a gap takes the place of the block, if there is one.
 *
 * Both keep span->count and span->bytes.
 */
bool mu_span_test(const struct mu_span *span, uintptr_t address);
bool mu_span_set(struct mu_span *span, uintptr_t address, size_t size);
void mu_span_clear(struct mu_span *span, uintptr_t address);

/* Span that holds ADDRESS, before or after the seal; NULL if none. */
struct mu_span *mu_blocks_span(
    const struct mu_blocks *blocks, uintptr_t address);

/* Spans by address, so that mu_blocks_span() is fast before the seal too. */
void mu_blocks_sort_spans(struct mu_blocks *blocks);

/*
 * Sort, check for overlaps, count. No more additions afterwards. Spans that
 * overlap are MU_ERR_HEAP_INCONSISTENT. REJECTED may be NULL.
 */
enum mu_status mu_blocks_seal(struct mu_blocks *blocks, size_t *rejected);

/*
 * The block that VALUE points into: begin <= VALUE < end (interior addresses
 * count, one past the end does not).
 */
bool mu_blocks_find(
    const struct mu_blocks *blocks, uintptr_t value, struct mu_block *block);

/*
 * After the seal: every block has a number, by address from 0. Returns how many
 * there are; more than numbers of 32 bits are for cannot be marked.
 */
size_t mu_blocks_number(struct mu_blocks *blocks);

/*
 * COUNT numbers, of blocks and of what else the caller numbers behind them, are
 * neither marked nor followed. False: no memory.
 */
bool mu_blocks_unmark(
    struct mu_blocks *blocks, struct mu_arena *arena, size_t count);

/* The block of NUMBER, if it is one. */
bool mu_blocks_at(
    const struct mu_blocks *blocks, uint32_t number, struct mu_block *block);

/* Is all of RANGE outside of spans and listed blocks? */
bool mu_blocks_empty(const struct mu_blocks *blocks, struct mu_range range);

/* Every block by address; stops when VISIT returns false. */
void mu_blocks_each(const struct mu_blocks *blocks,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

/* Every block that is neither marked nor to be kept, by address. */
void mu_blocks_each_unmarked(const struct mu_blocks *blocks,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

/* Has one of these SIZE bytes or more? */
bool mu_blocks_unmarked_of(const struct mu_blocks *blocks, size_t size);

/*
 * After the seal, before the marking: take out every block that DROP says, but
 * for those to be kept. The result is their bytes.
 */
size_t mu_blocks_drop(struct mu_blocks *blocks,
    bool (*drop)(void *ctx, const struct mu_block *block), void *ctx);

static inline bool
mu_blocks_marked(const struct mu_blocks *blocks, uint32_t number)
{
	return __atomic_load_n(&blocks->marks[number], __ATOMIC_RELAXED) != 0;
}

static inline void
mu_blocks_mark(const struct mu_blocks *blocks, uint32_t number)
{
	__atomic_store_n(&blocks->marks[number], 1, __ATOMIC_RELAXED);
}

static inline bool
mu_block_marked(const struct mu_block *block)
{
	return block->mark != NULL && *block->mark != 0;
}

/* Once it has a number: true if it was not marked. */
static inline bool
mu_block_mark(const struct mu_block *block)
{
	bool fresh = *block->mark == 0;

	*block->mark = 1;
	return fresh;
}

#endif
