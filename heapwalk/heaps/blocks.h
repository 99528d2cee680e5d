/*
 * The live blocks of the subject, found by any address inside them.
 *
 * The table has two kinds of entries:
 * - a span is a stretch of heap in which blocks and gaps follow each other. One
 *   bit per 16 bytes says "a live block starts here", another one "the block or
 *   gap before ends here". The bits take 3/128 of the heap, need no pointers,
 * and resolve an interior address by the nearest bits before and after it (a
 *   summary bit per bitmap word skips large blocks).
 * - a listed block stands alone (it has its own mapping, or the program
 *   registered it): a sorted array of ranges.
 *
 * Heap back ends fill it (add spans and blocks, set and clear start bits, then
 * mu_blocks_seal()). mu_blocks_number() gives every block a number, by address;
 * from then on blocks are identified by number.
 */
#ifndef HEAPWALK_HEAPS_BLOCKS_H
#define HEAPWALK_HEAPS_BLOCKS_H

#include "heapwalk/graph/words.h"
#include "heapwalk/subject/reach.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

#define MU_GRAIN 16 /* bytes per bit; blocks in spans are aligned to it */

struct mu_recorder;    /* heapwalk/recorded/recorded.h */
struct mu_heap_member; /* heapwalk/heaps/heap.h */

struct mu_span {
	struct mu_range range; /* begin is a multiple of MU_GRAIN */
	const char *view;      /* the subject's bytes at range.begin */
	uint64_t *bits;        /* start bits: mu_span_starts() */
	uint64_t *bounds;      /* bit i: a block or a gap begins at grain i */
	uint64_t *summary;     /* bit j: word j of bounds is not 0 */
	size_t num_words;      /* of start bits, and of bounds */
	size_t tail; /* bytes between a block's end and the next bound, less
			than a grain; set by the back end */
	size_t count, bytes; /* of live blocks; usable bytes */
	uint32_t first;      /* number of its first block */

	const struct mu_heap_member *heap; /* the heap it belongs to; or NULL */

	/* For the back end: index of the arena; free bytes seen by the walk. */
	size_t owner, free, top;
};

struct mu_listed {
	struct mu_range range;
	const char *view;
	bool keep; /* a root and never a leak: not proven to be live malloc
		      memory */
	uint32_t number;
	size_t order;                      /* order in which it was added */
	const struct mu_heap_member *heap; /* the heap it belongs to; or NULL */
};

struct mu_blocks {
	struct mu_arena *arena;
	struct mu_span *spans; /* sorted by address after seal */
	size_t num_spans, max_spans;
	bool spans_mixed;         /* not sorted by address yet */
	struct mu_listed *listed; /* sorted by address after seal */
	size_t num_listed, max_listed;

	/* The allocators that these blocks belong to. */
	const struct mu_heap_member *heaps;
	size_t num_heaps;
	bool last_words; /* set by marking: words that look like old links are
			    references of the program (mu_heap_ops.link()) */

	/* Which words refer to blocks (heapwalk/graph/references.h). */
	struct mu_word_rule words;
	mu_words_filter *filter; /* NULL: the fastest is found out */

	bool no_headers;   /* mu_reference_by_header() finds none */
	bool encodings;    /* heapwalk/graph/encodings.h may find some */
	unsigned integers; /* mu_integers_used(): heapwalk/mark/integers.h */

	/*
	 * Executable memory with blocks in it, by address: code that the
	 * program generates in memory from malloc (mu_references_find_code()).
	 */
	const struct mu_range *code;
	size_t num_code;

	/* Records of the allocation of blocks; NULL without a recorder. */
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
	 * the block was reached, and a bit that says whether its references
	 * were followed. (Any worker can set a byte at any time without reading
	 * it, which takes a tenth of the time of a bit.)
	 */
	uint8_t *marks;
	uint64_t *followed;
};

struct mu_block {
	struct mu_range range; /* usable bytes [begin, end) */
	const char *view;      /* the subject's bytes at range.begin */
	uint32_t number;
	struct mu_listed *listed;          /* NULL if it is in a span */
	const struct mu_heap_member *heap; /* the heap it belongs to; or NULL */
	uint8_t *mark;                     /* NULL if it has none yet */
};

/*
 * Bit i of WORD is set if a live block starts at range.begin + 16 (64 WORD +
 * i).
 *
 * These words alternate with those of mu_span_marks(), so that reading both
 * costs one cache line.
 */
static inline uint64_t *
mu_span_starts(const struct mu_span *span, size_t word)
{
	return &span->bits[2 * word];
}

/*
 * A second bitmap, for the back end's use until mu_blocks_number() replaces it
 * by ranks.
 */
static inline uint64_t *
mu_span_marks(const struct mu_span *span, size_t word)
{
	return &span->bits[2 * word + 1];
}

/*
 * After mu_blocks_number(): the number of the first block that starts in or
 * after WORD. WORD may be num_words, which gives the number after the span's
 * last block.
 */
static inline uint32_t
mu_span_rank(const struct mu_span *span, size_t word)
{
	return (uint32_t)*mu_span_marks(span, word);
}

/* gcc calls a function if the target CPU may not have the instruction. */
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

/* Make an empty table whose memory comes from ARENA. */
void mu_blocks_open(struct mu_blocks *blocks, struct mu_arena *arena);

/*
 * Add the stretch of heap RANGE (shrunk to multiples of MU_GRAIN), without
 * blocks; its bytes are at VIEW. Returns NULL if memory is exhausted. The span
 * moves when others are added: use its index (blocks->spans[i]) until the table
 * is sealed.
 */
struct mu_span *mu_blocks_add_span(
    struct mu_blocks *blocks, struct mu_range range, const char *view);

/*
 * Add one block. A block of no bytes counts as one byte. mu_blocks_seal()
 * checks for overlaps with listed blocks and spans; it keeps the block added
 * first and counts the others in *REJECTED. MU_ERR_ARGUMENT if the range ends
 * before it begins.
 */
enum mu_status mu_blocks_add(struct mu_blocks *blocks, struct mu_range range,
    const char *view, bool keep);

/* True if a live block of the span starts at ADDRESS. */
bool mu_span_test(const struct mu_span *span, uintptr_t address);

/* Turn the block at ADDRESS, if there is one, into a gap. */
void mu_span_clear(struct mu_span *span, uintptr_t address);

/* The span that holds ADDRESS, before or after the seal; NULL if none. */
struct mu_span *mu_blocks_span(
    const struct mu_blocks *blocks, uintptr_t address);

/*
 * Sort spans by address, so that mu_blocks_span() is fast before the seal too.
 */
void mu_blocks_sort_spans(struct mu_blocks *blocks);

/*
 * Sort, check for overlaps, count. Nothing can be added afterwards.
 * MU_ERR_HEAP_INCONSISTENT if spans overlap. REJECTED may be NULL.
 */
enum mu_status mu_blocks_seal(struct mu_blocks *blocks, size_t *rejected);

/*
 * The block that VALUE points into: begin <= VALUE < end (interior addresses
 * count, one past the end does not).
 */
bool mu_blocks_find(
    const struct mu_blocks *blocks, uintptr_t value, struct mu_block *block);

/*
 * After the seal: give every block a number, by address, from 0. Returns the
 * number of blocks; more than fit into 32 bits cannot be marked.
 */
size_t mu_blocks_number(struct mu_blocks *blocks);

/*
 * Make room for COUNT marks, for blocks and what the caller numbers after them,
 * all neither marked nor followed. Returns false if memory is exhausted.
 */
bool mu_blocks_unmark(
    struct mu_blocks *blocks, struct mu_arena *arena, size_t count);

/* The block with NUMBER; false if there is none. */
bool mu_blocks_at(
    const struct mu_blocks *blocks, uint32_t number, struct mu_block *block);

/* True if all of RANGE is outside of spans and listed blocks. */
bool mu_blocks_empty(const struct mu_blocks *blocks, struct mu_range range);

/* Visit every block by address, until VISIT returns false. */
void mu_blocks_each(const struct mu_blocks *blocks,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

/* Visit every block that is neither marked nor kept, by address. */
void mu_blocks_each_unmarked(const struct mu_blocks *blocks,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

/*
 * Visit every block whose number is in OF (mu/bits.h) and that is not kept, by
 * address.
 */
void mu_blocks_each_of(const struct mu_blocks *blocks, const uint64_t *of,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

/* True if one without mark that is not kept has SIZE bytes or more. */
bool mu_blocks_unmarked_of(const struct mu_blocks *blocks, size_t size);

/*
 * After the seal and before the marking: remove every block for which DROP
 * returns true, except kept ones. Returns their bytes.
 */
size_t mu_blocks_drop(struct mu_blocks *blocks,
    bool (*drop)(void *ctx, const struct mu_block *block), void *ctx);

/* True if the block NUMBER is marked. May run while other workers mark. */
static inline bool
mu_blocks_marked(const struct mu_blocks *blocks, uint32_t number)
{
	return __atomic_load_n(&blocks->marks[number], __ATOMIC_RELAXED) != 0;
}

/* Mark the block NUMBER. Several workers may mark, also the same block. */
static inline void
mu_blocks_mark(const struct mu_blocks *blocks, uint32_t number)
{
	__atomic_store_n(&blocks->marks[number], 1, __ATOMIC_RELAXED);
}

/* The same for a block that was looked up; false if it has no mark. */
static inline bool
mu_block_marked(const struct mu_block *block)
{
	return block->mark != NULL && *block->mark != 0;
}

/* True if the block, which has a number, was not marked before. */
static inline bool
mu_block_mark(const struct mu_block *block)
{
	bool fresh = *block->mark == 0;

	*block->mark = 1;
	return fresh;
}

#endif
