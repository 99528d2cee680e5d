/*
 * The workers of a marking, and what they leave over for each other.
 *
 * Which blocks end up marked does not depend on how many workers there are,
 * nor on their order: what is reachable is. The words that wait until all else
 * is marked (heapwalk/mark_links.h) are collected behind each run: those that
 * point at blocks still unmarked then, whoever met them.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MARKING_H
#define HEAPWALK_MARKING_H

#include "heapwalk/scan.h"
#include "heapwalk/workers.h"

struct mu_marking {
	struct mu_blocks *blocks;
	struct mu_arena *arena;
	struct mu_arena_piece *pieces; /* that ARENA had before */
	struct mu_share share;
	struct mu_scan *scans; /* one a worker */
	unsigned num_scans;
	bool passed; /* the deadline */

	/* Marked, not scanned: somewhere in here. */
	struct mu_range dropped;

	/* Words put off; the first JUDGED are no references, for now. */
	struct mu_scan_word *links;
	size_t num_links, max_links, judged;
	bool too_many;   /* for their room: they all count as references */
	bool links_lost; /* and that for lack of memory */
};

/* What a worker does first: one of the tickets of a run. */
typedef void mu_marking_begin(void *ctx, struct mu_scan *scan, size_t ticket);

/*
 * WORK is about how many bytes there are to be scanned. Room for MAX_DEPTH
 * pending blocks; for fewer where memory is short, but not without end:
 * MU_ERR_NO_MEMORY.
 */
enum mu_status mu_marking_open(struct mu_marking *marking,
    struct mu_blocks *blocks, struct mu_memory *memory, struct mu_arena *arena,
    uint64_t deadline_ns, size_t max_depth, size_t work);

/* Give back the memory that marking took; what failed to open is closed too. */
void mu_marking_close(struct mu_marking *marking);

/*
 * BEGIN for each of NUM_TICKETS, then all that can be reached from there and
 * from what is on the stack of the first of SCANS, by at most COUNT workers.
 */
void mu_marking_run(struct mu_marking *marking, unsigned count,
    size_t num_tickets, mu_marking_begin *begin, void *ctx);

#endif
