/*
 * The part of another process's memory that is in ours at a time.
 *
 * What is read in order goes through a buffer instead, and not through here
 * (heapwalk/subject/read_buffer.h).
 *
 * The address space (struct mu_remote_group) is reserved and closed. A read
 * there faults, and the handler of SIGSEGV reads what lies around from
 * the subject and puts it in place, in one step, so that other threads see
 * either nothing or all of it. What was read first goes first.
 *
 * A reader that goes through memory in order gets pieces that grow; one that
 * jumps gets small ones. What is read again is as it was before, but for memory
 * that the subject shares with others (MAP_SHARED): there it may have changed,
 * as in the image of a sweeper. System calls do not fault: they get EFAULT for
 * what is not there, so no system call may get a pointer into a view.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MEMORY_REMOTE_WINDOW_H
#define HEAPWALK_MEMORY_REMOTE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/arena.h"
#include "mu/range.h"

/*
 * What suffices for a search. It counts twice in a process's resident memory:
 * in the ring, and in place.
 */
#define MU_REMOTE_WINDOW ((size_t)16 << 20)
#define MU_REMOTE_LITTLE ((size_t)4 << 20) /* it does with that */

/*
 * A process with no more private memory than this is read as a whole: once, not
 * twice, which spares a tenth of the CPU time, or a third where half of the
 * heap is free in no order; and the copy ends before the search.
 */
#define MU_REMOTE_WHOLE ((size_t)64 << 20)

struct mu_remote_memory;
struct mu_remote_group;

/* What lies in place, or is being read. */
struct mu_remote_piece {
	struct mu_remote_group *group;
	size_t page, count; /* pages of GROUP */
	size_t size;        /* bytes of the ring */
	bool busy;          /* it is being read */
};

struct mu_remote_base {
	struct mu_range range; /* first of all: mu_ranges_upper() */
	struct mu_remote_group *group;
};

struct mu_remote_window {
	struct mu_remote_memory *remote;
	char *ring; /* memory that pieces are read into, and mapped from */
	size_t size;
	size_t head, tail; /* bytes ever given out, and given up */
	size_t largest;    /* bytes of a piece */

	struct mu_remote_base *places; /* all, by BASE */

	/* By age; a ring, too. */
	struct mu_remote_piece *pieces;
	size_t max_pieces, first, last; /* counts */

	int lock;
	int changes; /* a futex: pieces that were put in place */
	struct mu_remote_window *outer; /* that was opened before this one */
};

/*
 * Have WINDOW fill what is read of REMOTE, whose groups are closed; at most
 * SIZE bytes of it lie in our memory at a time. False: no memory. WINDOW and
 * REMOTE must stay where they are. By one thread at a time, and while no other
 * one reads such a view.
 *
 * SIGSEGV has our handler as long as any window is open. A fault elsewhere does
 * what it would have done without.
 */
bool mu_remote_window_open(struct mu_remote_window *window,
    struct mu_remote_memory *remote, size_t size, struct mu_arena *arena);

/*
 * Is all of RANGE, of GROUP, in place? It may go at any time, which only takes
 * time.
 */
bool mu_remote_window_has(const struct mu_remote_window *window,
    const struct mu_remote_group *group, struct mu_range range);

/* Accepts what was never opened, if it is zero. */
void mu_remote_window_close(struct mu_remote_window *window);

#endif
