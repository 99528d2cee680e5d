/*
 * What LeakTracer is monitoring.
 *
 * Runs in: the original, any thread, also in signal handlers.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_STATE_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_STATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Bit 0: allocations of all threads. Bit 1: releases. The remaining bits count
 * how often the monitoring of single threads was ended: a thread whose mark
 * equals this number is monitored individually. The number is never 0; the mark
 * of a new thread is 0.
 */
#define LEAKTRACER_ALL 1u
#define LEAKTRACER_RELEASES 2u
#define LEAKTRACER_GENERATION 4u

extern uint32_t leaktracer_state;
extern __thread uint32_t leaktracer_mark;

/* True if allocations of the calling thread are recorded. */
static inline bool
leaktracer_monitored(void)
{
	uint32_t state = __atomic_load_n(&leaktracer_state, __ATOMIC_RELAXED);

	return (state & LEAKTRACER_ALL) != 0 ||
	    leaktracer_mark == state / LEAKTRACER_GENERATION;
}

/* True if releases remove records. */
static inline bool
leaktracer_releases(void)
{
	return (__atomic_load_n(&leaktracer_state, __ATOMIC_RELAXED) &
		   LEAKTRACER_RELEASES) != 0;
}

/* The functions of memunreachable/leaktracer.h. */
void leaktracer_start_all(void);
void leaktracer_start_thread(void);
void leaktracer_stop_allocations(void);
void leaktracer_stop(void);

/*
 * Records older than this time (CLOCK_MONOTONIC, ns) are invalid: monitoring
 * was started anew after releases had been missed.
 */
uint64_t leaktracer_since(void);

#endif
