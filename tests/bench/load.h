/*
 * Other work of the victim: threads that wait, a thread that looks at the
 * clock, a thread that writes to the heap, many mappings.
 */
#ifndef TESTS_BENCH_LOAD_H
#define TESTS_BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "heap.h"

static inline uint64_t
bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Threads in pause(), for ever. False if the system does not allow so many. */
bool bench_idle_threads(size_t count);

/*
 * Map single pages, every second one read-only, so that the kernel merges none.
 */
bool bench_mappings(size_t count);

/* Writes to one byte in each page of the heap, leaving it as it is. */
void bench_dirty(const struct bench_heap *heap);

/* The longest time in which a thread did not get to look at the clock. */
bool bench_ticker_begin(void);
uint64_t bench_ticker_end(void);

/* Writes, in counts a millisecond. */
struct bench_rates {
	double before;    /* while nothing is asked */
	double during;    /* between question and answer, without the gap */
	uint64_t gap_ns;  /* the longest one */
	uint64_t slow_ns; /* without the gap, until 10 ms in a row have nine
			     tenths of what was written before */
};

/*
 * A thread that writes to random pages of the heap; when HOT, nine of ten
 * writes go to one page in 50. Runs SUBJECT during that.
 */
bool bench_writer(const struct bench_heap *heap, bool hot,
    void (*subject)(void), struct bench_rates *rates);

#endif
