/*
 * What LeakTracer monitors just now.
 *
 * Runs in: the original, any thread, also in signal handlers.
 */
#ifndef DEBUG_LEAKTRACER_STATE_H
#define DEBUG_LEAKTRACER_STATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Bit 0: allocations of all threads. Bit 1: releases. The rest counts how
 * often the marks of single threads were undone: a thread whose mark is that
 * number is monitored by itself. The number is never 0, the mark of a new
 * thread is.
 */
#define LEAKTRACER_ALL 1u
#define LEAKTRACER_RELEASES 2u
#define LEAKTRACER_GENERATION 4u

extern uint32_t leaktracer_state;
extern __thread uint32_t leaktracer_mark;

static inline bool
leaktracer_monitored(void)
{
	uint32_t state = __atomic_load_n(&leaktracer_state, __ATOMIC_RELAXED);

	return (state & LEAKTRACER_ALL) != 0 ||
	    leaktracer_mark == state / LEAKTRACER_GENERATION;
}

static inline bool
leaktracer_releases(void)
{
	return (__atomic_load_n(&leaktracer_state, __ATOMIC_RELAXED) &
		   LEAKTRACER_RELEASES) != 0;
}

/* The calls of memunreachable/leaktracer.h. */
void leaktracer_start_all(void);
void leaktracer_start_thread(void);
void leaktracer_stop_allocations(void);
void leaktracer_stop(void);

/*
 * Records from before this time (CLOCK_MONOTONIC, ns) are none any more:
 * monitoring was started anew after releases had gone unseen.
 */
uint64_t leaktracer_since(void);

#endif
