/*
 * Scanning: what marked blocks and roots point into is marked in turn.
 *
 * Each worker of a marking has one of these. Its stack of blocks still to be
 * scanned is bounded. What finds no room is left marked but not scanned, and
 * DROPPED says where it may be: whoever calls scans the marked blocks there
 * again (heapwalk/marking.c).
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_SCAN_H
#define HEAPWALK_SCAN_H

#include "heapwalk/deadline.h"
#include "heapwalk/share.h"
#include "heapwalk/words.h"

#define MU_SCAN_WORDS 32 /* a power of two, as the next one */
#define MU_SCAN_BLOCKS                                        \
	64 /* on the way from memory; twice each gain nothing \
	    */
#define MU_SCAN_REGIONS 64
#define MU_SCAN_SHIFT 26 /* a heap of glibc's is 64 MiB: HEAP_MAX_SIZE */

/* A word that was read, and where: 0 for a root. */
struct mu_scan_word {
	uintptr_t value, address;
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

	uintptr_t *stack; /* begins of marked blocks to be scanned */
	size_t base, depth, max_depth;

	/* Marked but not scanned, for lack of room: somewhere in here. */
	struct mu_range dropped;

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
	uintptr_t batch[MU_SHARE_BATCH];
};

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
void mu_scan_words(
    struct mu_scan *scan, const char *view, struct mu_range range, bool root);

/* The oldest word that waits; there is one. */
void mu_scan_settle(struct mu_scan *scan);

/* The marked block at BEGIN: to be scanned, or dropped for lack of room. */
void mu_scan_push(struct mu_scan *scan, uintptr_t begin);
void mu_scan_drop(struct mu_scan *scan, uintptr_t begin);

/* The marked block at BEGIN, which another marked or that was dropped. */
void mu_scan_block(struct mu_scan *scan, uintptr_t begin);

/* RANGE, whose bytes are at VIEW, as a root. Long ones are shared out. */
void mu_scan_root(
    struct mu_scan *scan, const char *view, struct mu_range range);

/* Mark BLOCK; true if it was not marked. */
bool mu_scan_mark(struct mu_scan *scan, const struct mu_block *block);

/*
 * Until all that this worker knows to be marked was scanned, shared out or
 * dropped, or the deadline passed.
 */
void mu_scan_drain(struct mu_scan *scan);

/* The same for all; BEGIN is called for each ticket. */
void mu_scan_work(struct mu_scan *scan,
    void (*begin)(void *ctx, struct mu_scan *scan, size_t ticket), void *ctx);

#endif
