/*
 * Threads of our own process that wait in a signal handler: see signal_stop.h.
 *
 * Shared by the stopping thread and the handler, which runs in each.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_THREADS_H
#define PTRACE_LIVE_SIGNAL_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arch/signal_frame.h"
#include "mu/arena.h"
#include "ptrace/live/task_list.h"

enum mu_signal_thread_state {
	MU_SIGNAL_THREAD_WANTED, /* the signal is on its way */
	MU_SIGNAL_THREAD_HERE,
	MU_SIGNAL_THREAD_LEFT, /* it continued by itself: time was up */
	MU_SIGNAL_THREAD_GONE, /* the thread ended */
};

struct mu_signal_thread {
	pid_t tid;
	int state;               /* enum mu_signal_thread_state */
	const ucontext_t *frame; /* on its stack; while it is here */
	uintptr_t bases[MU_FRAME_BASES];
};

#define MU_SIGNAL_THREAD_ROW 64

/* Threads never move: the handler finds its own by address. Oldest first. */
struct mu_signal_thread_row {
	struct mu_signal_thread_row *next;
	size_t count;
	struct mu_signal_thread threads[MU_SIGNAL_THREAD_ROW];
};

struct mu_signal_stop {
	pid_t pid, except;
	struct mu_arena *arena;
	uint64_t leave_ns; /* when a thread that is not released continues */
	uint64_t held_ns;  /* when their frames had been read */
	uint64_t begin_ns; /* when the first signal was sent; 0 if none was */
	uint64_t end_ns;   /* when all threads were released */
	mu_sigmask seen;   /* signals that were usable before the stop */
	struct mu_task_list listing;   /* made then, and good for one round */
	struct mu_frame_layout layout; /* layout of this machine's frames */
	struct mu_signal_thread_row *rows, *last;
	size_t count;   /* threads that were sent the signal */
	size_t rescans; /* number of listings */
	int signo;      /* the signal; 0 = there was no thread to stop */
	bool pending;   /* a signal of ours may still be on its way */
	bool open;      /* the handler uses this struct */
	bool stuck;     /* a thread did not leave it in time */
	int gate;       /* futex: 1 releases all threads */
	int reading;    /* futex: 1 while their frames are read */
	int missing;    /* futex: number of threads that have not arrived */
};

struct mu_signal_thread_cursor {
	struct mu_signal_thread_row *row;
	size_t index;
};

/* Begin before the first thread of STOP, also while threads are added. */
static inline struct mu_signal_thread_cursor
mu_signal_thread_first(const struct mu_signal_stop *stop)
{
	return (struct mu_signal_thread_cursor) {
		__atomic_load_n(&stop->rows, __ATOMIC_ACQUIRE), 0
	};
}

/* The next thread, or NULL. Safe while a thread is being added. */
static inline struct mu_signal_thread *
mu_signal_thread_next(struct mu_signal_thread_cursor *at)
{
	while (at->row != NULL &&
	    at->index == __atomic_load_n(&at->row->count, __ATOMIC_ACQUIRE)) {
		at->row = __atomic_load_n(&at->row->next, __ATOMIC_ACQUIRE);
		at->index = 0;
	}
	return at->row == NULL ? NULL : &at->row->threads[at->index++];
}

/*
 * The state, which the thread's own handler changes: what it wrote before is
 * visible.
 */
static inline int
mu_signal_thread_state(const struct mu_signal_thread *thread)
{
	return __atomic_load_n(&thread->state, __ATOMIC_SEQ_CST);
}

#endif
