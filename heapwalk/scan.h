/*
 * Scanning: what marked blocks and roots point into is marked in turn.
 *
 * Each worker of a marking has one of these. Its stack of blocks still to be
 * scanned is small. Once it is full, blocks are left marked and not taken
 * (mu_span_marks()), and whoever calls sweeps over the bitmaps for them, in the
 * order of their addresses (heapwalk/marking.c).
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_SCAN_H
#define HEAPWALK_SCAN_H

#include "heapwalk/deadline.h"
#include "heapwalk/share.h"
#include "heapwalk/words.h"

/* On their way from memory: powers of two, twice as much gains nothing. */
#define MU_SCAN_WORDS 32
#define MU_SCAN_BLOCKS 64
#define MU_BATCH_BLOCKS 256
#define MU_BATCH_WORDS 512

#define MU_SCAN_LINES 8 /* of a block; behind them the CPU sees the stream */
#define MU_SCAN_EARLY_LINES 3
#define MU_LINE 64

#define MU_SCAN_LONG 32768 /* bytes from which on a block is shared out */

#define MU_SCAN_REGIONS 64
#define MU_SCAN_SHIFT 26 /* a heap of glibc's is 64 MiB: HEAP_MAX_SIZE */

/* A word that was read, and where: 0 for a root. */
struct mu_scan_word {
	uintptr_t value, address;
};

/* See heapwalk/batch.c. */
struct mu_batch {
	uintptr_t begins[MU_BATCH_BLOCKS];
	const char *views[MU_BATCH_BLOCKS];
	size_t rooms[MU_BATCH_BLOCKS]; /* up to the end of the span */
	size_t num_blocks;
	const struct mu_span *span; /* of the last of them */

	/* Words that wait, and their places in the bitmaps. */
	uintptr_t values[MU_BATCH_WORDS], addresses[MU_BATCH_WORDS];
	uint64_t *places[MU_BATCH_WORDS];
	uint8_t numbers[MU_BATCH_WORDS];
	size_t num_words;
};

/* See heapwalk/sweep.c. */
struct mu_sweep {
	struct mu_span *span;
	size_t next, end; /* words of the bitmaps still to be swept over */
	uint64_t taken;   /* of the last */
	size_t count;     /* blocks that were taken */
};

struct mu_scan {
	struct mu_blocks *blocks;
	struct mu_share *share;
	mu_words_filter *filter;
	struct mu_deadline deadline;
	bool alone; /* nobody else sets marks meanwhile */

	/* Words that wait for their place in the bitmaps. */
	uintptr_t values[MU_SCAN_WORDS], addresses[MU_SCAN_WORDS];
	bool again[MU_SCAN_WORDS]; /* waited for a header, too */
	unsigned first_word, num_words;

	/* Blocks: SIZED to NEWEST wait for the header, OLDEST on for bytes. */
	uintptr_t begins[MU_SCAN_BLOCKS];
	const char *views[MU_SCAN_BLOCKS];
	size_t sizes[MU_SCAN_BLOCKS]; /* of the room, until it is known */
	unsigned oldest, sized, newest;

	uintptr_t *stack; /* begins of taken blocks to be scanned */
	size_t base, depth, max_depth;

	bool sweeping; /* nothing goes on the stack */
	bool left;     /* marked and not taken: there may be some */

	struct mu_sweep sweep;
	struct mu_batch batch;

	/*
	 * Words in blocks that point where an old link of a free list may
	 * (heapwalk/links.h): they wait until all else is marked.
	 */
	struct mu_scan_word *links;
	size_t num_links, max_links;
	bool links_lost; /* there was no room for some */

	/* Where an address was found to be, by its upper bits. */
	struct mu_span *spans[MU_SCAN_REGIONS];
	uintptr_t empty[MU_SCAN_REGIONS]; /* regions without any block */
	uintptr_t given[MU_SHARE_BATCH];  /* by another worker */
};

/*
 * SIZE bytes behind a header that is there. A function that does nothing but
 * prefetch has no effect for gcc, which leaves out calls of it: inline always.
 */
static inline __attribute__((always_inline)) void
mu_scan_ask(const char *view, size_t size)
{
	const char *end;

	end = view +
	    (size < MU_SCAN_LINES * MU_LINE ? size : MU_SCAN_LINES * MU_LINE);
	view += MU_LINE -
	    ((uintptr_t)(view - sizeof(uintptr_t)) % MU_LINE +
		sizeof(uintptr_t));
	for (; view < end; view += MU_LINE)
		__builtin_prefetch(view);
}

/* Header and bytes of a block that may begin at VIEW. */
static inline __attribute__((always_inline)) void
mu_scan_ask_early(const char *view)
{
	unsigned i;

	for (i = 0; i < MU_SCAN_EARLY_LINES; i++)
		__builtin_prefetch(
		    view - sizeof(uintptr_t) + (size_t)i * MU_LINE);
}

/* The span that holds ADDRESS, or NULL. */
static inline struct mu_span *
mu_scan_span(struct mu_scan *scan, uintptr_t address)
{
	struct mu_span **known =
	    &scan->spans[(address >> MU_SCAN_SHIFT) % MU_SCAN_REGIONS];
	struct mu_span *span = *known;

	if (span == NULL || !mu_range_has(span->range, address)) {
		span = mu_blocks_span(scan->blocks, address);
		if (span != NULL)
			*known = span;
	}
	return span;
}

/* A word within the envelope of all blocks. Marks now or when drained. */
void mu_scan_word(struct mu_scan *scan, struct mu_scan_word word);

/* All words of RANGE, which begins where one counts; its bytes are at VIEW. */
void mu_scan_words(struct mu_scan *scan, const char *view,
    struct mu_range range, enum mu_words_of of);

/* The oldest word that waits; there is one. */
void mu_scan_settle(struct mu_scan *scan);

/* Set BITS of MARKS; what it was before. */
static inline uint64_t
mu_scan_set_bits(const struct mu_scan *scan, uint64_t *marks, uint64_t bits)
{
	uint64_t before;

	if (!scan->alone)
		return __atomic_fetch_or(marks, bits, __ATOMIC_RELAXED);
	before = *marks;
	*marks = before | bits;
	return before;
}

/*
 * Mark and take the block whose start bit is NUMBER of the word before MARKS;
 * true: nobody had taken it. *BEFORE: what MARKS was.
 */
static inline bool
mu_scan_take(const struct mu_scan *scan, uint64_t *marks, unsigned number,
    uint64_t *before)
{
	uint64_t bit = 1ull << number;

	*before = mu_scan_set_bits(scan, marks, bit | bit << 1);
	/* The bit of the last grain would be the next word's first. */
	return bit << 1 == 0 ? (mu_scan_set_bits(scan, marks + 2, 1) & 1) == 0
			     : (*before & bit << 1) == 0;
}

/* Mark BLOCK, to be scanned now or later; true if it was not marked. */
bool mu_scan_reach(struct mu_scan *scan, const struct mu_block *block);

/*
 * The same for the block at BEGIN, whose start bit is NUMBER of the word before
 * MARKS.
 */
bool mu_scan_reach_first(
    struct mu_scan *scan, uint64_t *marks, unsigned number, uintptr_t begin);

/* The taken block at BEGIN: to be scanned, or left for others to take. */
void mu_scan_push(struct mu_scan *scan, uintptr_t begin);
void mu_scan_leave(struct mu_scan *scan, uintptr_t begin);

/* The block at BEGIN, which is taken. */
void mu_scan_block(struct mu_scan *scan, uintptr_t begin);

/* A listed block that is marked; true: it is taken from now on. */
bool mu_scan_take_listed(struct mu_listed *listed);

/* Take what is left in words NEXT to END - 1 of SPAN's bitmaps, and scan it. */
void mu_scan_sweep(
    struct mu_scan *scan, struct mu_span *span, size_t next, size_t end);

/* RANGE, whose bytes are at VIEW, as a root. Long ones are shared out. */
void mu_scan_root(
    struct mu_scan *scan, const char *view, struct mu_range range);

/*
 * The same of executable memory: an instruction may begin at any byte, and so
 * may the address in it. Where blocks lie below 4 GiB, so may one of 32 bits
 * (x86: mov $imm32, %reg clears the upper half).
 */
void mu_scan_code(
    struct mu_scan *scan, const char *view, struct mu_range range);

/* The next block to be taken so by who follows each; false: none. */
bool mu_scan_swept(struct mu_scan *scan, uintptr_t *begin);

/*
 * Until all that this worker knows to be marked was scanned, shared out or
 * dropped, or the deadline passed.
 */
void mu_scan_drain(struct mu_scan *scan);

/* The same for all; BEGIN is called for each ticket. */
void mu_scan_work(struct mu_scan *scan,
    void (*begin)(void *ctx, struct mu_scan *scan, size_t ticket), void *ctx);

#endif
