/* Load of the victim besides its heap: see load.h. */
#include "load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define IDLE_STACK ((size_t)64 << 10)

enum ticker_state { TICKER_STARTS, TICKER_RUNS, TICKER_ENDS };

static struct {
	pthread_t thread;
	_Atomic enum ticker_state state;
	volatile uint64_t longest, ticks;
} ticker;

static void *
idle(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

bool
bench_idle_threads(size_t count)
{
	pthread_attr_t attr;
	pthread_t thread;
	size_t i;
	bool good = true;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, IDLE_STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (i = 0; i < count && good; i++)
		good = pthread_create(&thread, &attr, idle, NULL) == 0;
	pthread_attr_destroy(&attr);
	return good;
}

bool
bench_mappings(size_t count)
{
	size_t i;
	char *page;

	for (i = 0; i < count; i++) {
		page = mmap(NULL, BENCH_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return false;
		*(volatile char *)page = 1;
		if (i % 2 == 1 && mprotect(page, BENCH_PAGE, PROT_READ) != 0)
			return false;
	}
	return true;
}

void
bench_dirty(const struct bench_heap *heap)
{
	volatile char *byte;
	size_t i;

	for (i = 0; i < heap->page_count; i++) {
		byte = (char *)(heap->pages[i] * BENCH_PAGE);
		*byte = *byte;
	}
}

/* Writes as it goes, as any thread does: a page that was copied is met. */
static void *
tick(void *argument)
{
	uint64_t now, last = bench_now_ns();

	(void)argument;
	atomic_store(&ticker.state, TICKER_RUNS);
	while (atomic_load_explicit(&ticker.state, memory_order_relaxed) !=
	    TICKER_ENDS) {
		now = bench_now_ns();
		if (now - last > ticker.longest)
			ticker.longest = now - last;
		ticker.ticks++;
		last = now;
	}
	return NULL;
}

bool
bench_ticker_begin(void)
{
	atomic_store(&ticker.state, TICKER_STARTS);
	if (pthread_create(&ticker.thread, NULL, tick, NULL) != 0)
		return false;
	while (atomic_load(&ticker.state) == TICKER_STARTS)
		usleep(100);
	usleep(1000);
	ticker.longest = 0;
	return true;
}

uint64_t
bench_ticker_end(void)
{
	uint64_t longest, last = ticker.ticks;

	while (ticker.ticks < last + 2) /* what it was kept from is over */
		usleep(100);
	longest = ticker.longest;
	atomic_store(&ticker.state, TICKER_ENDS);
	pthread_join(ticker.thread, NULL);
	return longest;
}
