/*
 * Threads of our own process that wait in a signal handler: see parking.h.
 *
 * Shared by the stopping thread and the handler, which runs in each.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_PARKED_H
#define PTRACE_LIVE_PARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arch/signal_frame.h"
#include "mu/arena.h"
#include "ptrace/live/task_list.h"

enum mu_parked_state {
	MU_PARKED_WANTED, /* the signal is on its way */
	MU_PARKED_HERE,
	MU_PARKED_LEFT, /* by itself: the time was up */
	MU_PARKED_GONE, /* the thread ended */
};

struct mu_parked {
	pid_t tid;
	int state;               /* enum mu_parked_state */
	const ucontext_t *frame; /* on its stack; while it is here */
	uintptr_t bases[MU_FRAME_BASES];
};

#define MU_PARKED_ROW 64

/* Threads never move: the handler knows its own by address. Oldest first. */
struct mu_parked_row {
	struct mu_parked_row *next;
	size_t count;
	struct mu_parked threads[MU_PARKED_ROW];
};

struct mu_parking {
	pid_t pid, except;
	struct mu_arena *arena;
	uint64_t leave_ns; /* when a parked thread goes on by itself */
	uint64_t begin_ns; /* when the first signal was sent; 0 = none was */
	uint64_t end_ns;   /* when everybody was let go */
	mu_sigmask seen;   /* signals that could be used before the stop */
	struct mu_task_list listing;   /* made then, and good for one round */
	struct mu_frame_layout layout; /* of the frames of this machine */
	struct mu_parked_row *rows, *last;
	size_t count;   /* threads that were sent the signal */
	size_t rescans; /* listings it took */
	int signo;      /* the signal; 0 = there was no thread to stop */
	bool pending;   /* a signal of ours may still be on its way */
	bool open;      /* the handler knows of us */
	bool stuck;     /* a thread did not leave it in time */
	int gate;       /* futex: 1 releases all threads */
	int missing;    /* futex: number of threads that have not arrived */
};

struct mu_parked_cursor {
	struct mu_parked_row *row;
	size_t index;
};

static inline struct mu_parked_cursor
mu_parked_first(const struct mu_parking *parking)
{
	return (struct mu_parked_cursor) {
		__atomic_load_n(&parking->rows, __ATOMIC_ACQUIRE), 0
	};
}

/* The next thread, or NULL. Safe against one that is being added. */
static inline struct mu_parked *
mu_parked_next(struct mu_parked_cursor *at)
{
	while (at->row != NULL &&
	    at->index == __atomic_load_n(&at->row->count, __ATOMIC_ACQUIRE)) {
		at->row = __atomic_load_n(&at->row->next, __ATOMIC_ACQUIRE);
		at->index = 0;
	}
	return at->row == NULL ? NULL : &at->row->threads[at->index++];
}

static inline int
mu_parked_state(const struct mu_parked *thread)
{
	return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
}

#endif
