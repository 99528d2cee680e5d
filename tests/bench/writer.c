/*
 * A thread that writes to the heap during a check: see load.h. What it did is
 * counted for each millisecond.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load.h"

#define BINS ((size_t)100000) /* milliseconds */
#define BIN_NS ((uint64_t)1000000)
#define BEFORE_NS (200 * BIN_NS)
#define AFTER_NS (400 * BIN_NS)
#define WINDOW ((size_t)10)
#define WARM ((size_t)50) /* first milliseconds, which do not count */

static struct {
	const struct bench_heap *heap;
	bool hot;
	uint32_t *bins;
	uint64_t began;
	_Atomic uint64_t asked; /* when the subject began; gaps before are not
				   its own */
	_Atomic bool ends;
	uint64_t gap_ns;
} writer;

static size_t
next_page(uint64_t *random)
{
	size_t pages = writer.heap->page_count;

	if (!writer.hot || bench_random_below(random, 10) == 0)
		return bench_random_below(random, pages);
	return bench_random_below(random, pages / 50 + 1) * 49 % pages;
}

static void *
write_pages(void *argument)
{
	uint64_t random = 1, now, last = bench_now_ns(), asked;
	volatile char *byte;
	size_t bin;

	(void)argument;
	while (!atomic_load_explicit(&writer.ends, memory_order_relaxed)) {
		byte = (char *)(writer.heap->pages[next_page(&random)] *
		    BENCH_PAGE);
		*byte = *byte;
		now = bench_now_ns();
		bin = (size_t)((now - writer.began) / BIN_NS);
		if (bin < BINS)
			writer.bins[bin]++;
		asked =
		    atomic_load_explicit(&writer.asked, memory_order_relaxed);
		if (asked != 0 && now > asked && now - last > writer.gap_ns)
			writer.gap_ns = now - last;
		last = now;
	}
	return NULL;
}

/* Writes a millisecond from bin FIRST to bin END - 1. */
static double
rate(size_t first, size_t end)
{
	uint64_t sum = 0;
	size_t i;

	if (end > BINS)
		end = BINS;
	if (first >= end)
		return 0;
	for (i = first; i < end; i++)
		sum += writer.bins[i];
	return (double)sum / (double)(end - first);
}

static size_t
bin_of(uint64_t time)
{
	return (size_t)((time - writer.began) / BIN_NS);
}

/* The longest gap is the stop, and no part of the time that is checked. */
static void
judge(uint64_t asked, uint64_t answered, uint64_t ended,
    struct bench_rates *rates)
{
	size_t from = bin_of(asked) + 1, until = bin_of(answered);
	size_t last = bin_of(ended), i;
	uint64_t beside = answered - asked;

	beside = beside > writer.gap_ns ? beside - writer.gap_ns : 0;
	rates->gap_ns = writer.gap_ns;
	rates->before = rate(WARM, from - 1);
	rates->during = rates->before;
	if (until > from && beside > BIN_NS)
		rates->during = rate(from, until) * (double)(until - from) *
		    (double)BIN_NS / (double)beside;
	for (i = until; i + WINDOW <= last; i++)
		if (rate(i, i + WINDOW) >= 0.9 * rates->before)
			break;
	rates->slow_ns = beside + (i - until) * BIN_NS;
}

bool
bench_writer(const struct bench_heap *heap, bool hot, void (*subject)(void),
    struct bench_rates *rates)
{
	pthread_t thread;
	uint64_t answered, ended;

	writer.heap = heap;
	writer.hot = hot;
	writer.bins = mmap(NULL, BINS * sizeof(*writer.bins),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (writer.bins == MAP_FAILED)
		return false;
	writer.gap_ns = 0;
	atomic_store(&writer.ends, false);
	atomic_store(&writer.asked, 0);
	writer.began = bench_now_ns();
	if (pthread_create(&thread, NULL, write_pages, NULL) != 0) {
		munmap(writer.bins, BINS * sizeof(*writer.bins));
		return false;
	}
	usleep((useconds_t)(BEFORE_NS / 1000));
	atomic_store(&writer.asked, bench_now_ns());
	subject();
	answered = bench_now_ns();
	usleep((useconds_t)(AFTER_NS / 1000));
	ended = bench_now_ns();
	atomic_store(&writer.ends, true);
	pthread_join(thread, NULL);
	judge(atomic_load(&writer.asked), answered, ended, rates);
	munmap(writer.bins, BINS * sizeof(*writer.bins));
	return true;
}
