/*
 * Scanning: what marked blocks and roots point into is marked in turn.
 *
 * The stack of blocks still to be scanned is bounded. What finds no room is
 * left marked but not scanned, and DROPPED says where it may be: whoever calls
 * scans the marked blocks there again (heapwalk/mark.c).
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_SCAN_H
#define HEAPWALK_SCAN_H

#include "heapwalk/blocks.h"
#include "heapwalk/deadline.h"

/* About as many cache lines as a core can have on the way at once. */
#define MU_SCAN_WAITING 16

/* A word that was read, and where: 0 for a root. */
struct mu_scan_word {
	uintptr_t value, address;
};

/* A long block or a root, scanned up to AT. */
struct mu_stretch {
	const char *view; /* the subject's bytes at BEGIN */
	uintptr_t begin, at, end;
	uintptr_t filled; /* populated up to here; then ask again */
	bool root;
};

struct mu_scan {
	/* Set by the caller; MEMORY may be NULL: everything is populated. */
	struct mu_blocks *blocks;
	struct mu_memory *memory;
	struct mu_deadline deadline;

	struct mu_span *span; /* that held the last address */

	/* Rings; first is the oldest. */
	uintptr_t values[MU_SCAN_WAITING], addresses[MU_SCAN_WAITING];
	unsigned first_word, num_words;
	uintptr_t nexts[MU_SCAN_WAITING]; /* begins of marked blocks */
	unsigned first_next, num_nexts;

	uintptr_t *stack; /* begins of marked blocks to be scanned */
	size_t depth, max_depth;
	struct mu_stretch *stretches;
	size_t num_stretches;

	/* Marked but not scanned, for lack of room: somewhere in here. */
	struct mu_range dropped;

	/*
	 * Words in blocks that point where an old link of a free list may
	 * (heapwalk/links.h): they wait until all else is marked.
	 */
	struct mu_scan_word *links;
	size_t num_links, max_links;
	bool links_lost; /* no memory for them: they count as references */
	struct mu_arena *arena;
};

/*
 * Room for MAX_DEPTH pending blocks; for fewer where memory is short, but not
 * without end: MU_ERR_NO_MEMORY.
 */
enum mu_status mu_scan_open(
    struct mu_scan *scan, struct mu_arena *arena, size_t max_depth);

/* A word within the envelope of all blocks. Marks now or at mu_scan_finish().
 */
void mu_scan_word(struct mu_scan *scan, struct mu_scan_word word);

/* The marked block at BEGIN, now or at mu_scan_finish(). */
void mu_scan_block(struct mu_scan *scan, uintptr_t begin);

/* RANGE, whose bytes are at VIEW, as a root. Finishes. */
void mu_scan_root(
    struct mu_scan *scan, const char *view, struct mu_range range);

/*
 * Until all that is known to be marked was scanned or dropped, or the deadline
 * passed.
 */
void mu_scan_finish(struct mu_scan *scan);

#endif
