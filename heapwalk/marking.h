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
	bool left;   /* blocks may be marked and not taken */

	/* Words put off; the first JUDGED are no references, for now. */
	struct mu_scan_word *links;
	size_t num_links, max_links, judged;
	bool too_many;   /* for their room: they all count as references */
	bool links_lost; /* and that for lack of memory */
};

/* What a worker does first: one of the tickets of a run. */
typedef void mu_marking_begin(void *ctx, struct mu_scan *scan, size_t ticket);

/*
 * WORK is about how many bytes there are to be scanned. Each worker has room
 * for MAX_DEPTH blocks, or less where memory is short.
 */
enum mu_status mu_marking_open(struct mu_marking *marking,
    struct mu_blocks *blocks, struct mu_memory *memory, struct mu_arena *arena,
    uint64_t deadline_ns, size_t max_depth, size_t work);

/* Give back the memory that marking took; what failed to open is closed too. */
void mu_marking_close(struct mu_marking *marking);

/* Nothing is taken any more: all that is marked is scanned in the next run. */
void mu_marking_again(struct mu_marking *marking);

/*
 * BEGIN for each of NUM_TICKETS, then all that can be reached from there and
 * from what is on the stack of the first of SCANS, by at most COUNT workers.
 */
void mu_marking_run(struct mu_marking *marking, unsigned count,
    size_t num_tickets, mu_marking_begin *begin, void *ctx);

#endif
