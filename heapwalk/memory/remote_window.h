/*
 * Keep only a part of another process's memory in ours.
 *
 * Memory that is read in order goes through a buffer instead
 * (heapwalk/subject/read_buffer.h).
 *
 * The address space (struct mu_remote_group) is reserved and inaccessible. A
 * read there faults; the SIGSEGV handler reads the surrounding memory from the
 * subject and maps it in one step, so that other threads see either nothing or
 * all of it. The oldest piece is dropped first.
 *
 * A reader that goes through memory in order, upwards or downwards, gets
 * growing pieces; one that jumps gets small ones. A repeated read gives the
 * same contents, except for memory that the subject shares with others
 * (MAP_SHARED), which may change, as in the image of a sweeper. System calls do
 * not fault: they return EFAULT for memory that is not present, so never pass
 * them a pointer into a view.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_MEMORY_REMOTE_WINDOW_H
#define HEAPWALK_MEMORY_REMOTE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/arena.h"
#include "mu/range.h"

/*
 * Enough for a search. It counts twice in the resident memory of a process: in
 * the ring and where it is mapped.
 */
#define MU_REMOTE_WINDOW ((size_t)16 << 20)
#define MU_REMOTE_LITTLE ((size_t)4 << 20) /* it does with that */

/*
 * A process with no more private memory than this is read as a whole: once
 * instead of twice, which saves a tenth of the CPU time, or a fifth if half of
 * the heap is free in random order; and the copy can end before the search.
 */
#define MU_REMOTE_WHOLE ((size_t)64 << 20)

struct mu_remote_memory;
struct mu_remote_group;

/* A piece that is mapped or being read. */
struct mu_remote_piece {
	struct mu_remote_group *group;
	size_t page, count; /* pages of GROUP */
	size_t size;        /* bytes in the ring */
	bool busy;          /* it is being read */
};

struct mu_remote_base {
	struct mu_range range; /* must come first: mu_ranges_upper() */
	struct mu_remote_group *group;
};

struct mu_remote_window {
	struct mu_remote_memory *remote;
	char *ring; /* memory that pieces are read into and mapped from */
	size_t size;
	size_t head, tail; /* total bytes allocated, and freed */
	size_t largest;    /* bytes of the largest piece */

	struct mu_remote_base *places; /* all groups, by BASE */

	/* By age; a ring buffer, too. */
	struct mu_remote_piece *pieces;
	size_t max_pieces, first, last; /* counters */

	int lock;
	int changes; /* futex: number of pieces mapped so far */
	struct mu_remote_window *outer; /* that was opened before this one */
};

/*
 * Open WINDOW for REMOTE, whose groups are inaccessible; at most SIZE bytes of
 * it are in our memory at a time. Returns false if memory is exhausted. WINDOW
 * and REMOTE must stay where they are. Only one thread may call this, while no
 * other thread reads such a view.
 *
 * SIGSEGV has our handler while any window is open. A fault elsewhere has the
 * effect that it would have without it.
 */
bool mu_remote_window_open(struct mu_remote_window *window,
    struct mu_remote_memory *remote, size_t size, struct mu_arena *arena);

/*
 * True if all of RANGE, in GROUP, is present. It may be dropped at any time,
 * and is then read again.
 */
bool mu_remote_window_has(const struct mu_remote_window *window,
    const struct mu_remote_group *group, struct mu_range range);

/* Accepts a zeroed WINDOW that was never opened. */
void mu_remote_window_close(struct mu_remote_window *window);

#endif
