/*
 * Stop every thread of our own process without ptrace: each gets a signal and
 * waits in its handler.
 *
 * The handler is there for as long as the stop takes to come about, and
 * nobody else's signal is touched: the one that is used is one that no thread
 * blocks and, but for glibc's own two, that the program does not handle.
 *
 * What a parked thread sees of it is what it sees of any handler under
 * SA_RESTART: signal(7) lists the calls that fail with EINTR all the same.
 *
 * Runs in: original, in a thread with all signals blocked, one at a time. Uses
 * no malloc, no errno, no libc lock.
 */
#ifndef PTRACE_PARKING_H
#define PTRACE_PARKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arena.h"
#include "mu/signal_frame.h"
#include "mu/status.h"

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
	struct mu_parked_row *rows, *last;
	size_t count;   /* threads that were sent the signal */
	size_t rescans; /* listings it took */
	int signo;      /* by which; 0 = nobody was there to be stopped */
	bool pending;   /* a signal of ours may still be on its way */
	bool open;      /* the handler knows of us */
	bool stuck;     /* somebody did not leave it in time */
	int gate;       /* futex: 1 lets everybody go */
	int missing;    /* futex: who is still to come */
};

/*
 * Stop every thread of PID, our own process, but EXCEPT, the calling one. As
 * mu_threads_stop() it lists until nothing new comes; threads that end
 * meanwhile are no error. After a failure everything is released. PARKING
 * need not be initialised; it must stay where it is, as ARENA must, until a
 * release that was true.
 *
 * STOP_NS, LEAVE_NS (CLOCK_MONOTONIC): when the attempt is given up, and when
 * a thread that nobody released goes on.
 *
 * MU_ERR_TIMEOUT: a thread did not come in time; one that sleeps in the kernel
 * uninterruptibly, as in vfork(), does not. MU_ERR_SIGNALS_BLOCKED: a thread
 * blocks every signal that could be used, or takes them by sigwait().
 */
enum mu_status mu_parking_stop(struct mu_parking *parking, pid_t pid,
    pid_t except, struct mu_arena *arena, uint64_t stop_ns, uint64_t leave_ns,
    struct mu_why *why);

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

/* Is everybody still there? To be asked when all is done. */
bool mu_parking_is_full(const struct mu_parking *parking);

/*
 * Let everybody go and wait until they have gone. False: somebody is still
 * there, although there was time; then PARKING and the arena must stay for
 * ever. Accepts the zero value; may be called twice.
 */
bool mu_parking_release(struct mu_parking *parking);

#endif
