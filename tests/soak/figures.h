/* Statistics of the passes of a soak. */
#ifndef TESTS_SOAK_FIGURES_H
#define TESTS_SOAK_FIGURES_H

#include <sys/mman.h>

#include "lib/state/options.h"
#include "tests/soak/soaker.h"

#define MAX_PASSES ((size_t)1 << 20)
#define MAX_STATUS 32
#define NUM_ASKED 3 /* auto, ptrace, signal */
#define NUM_STOPS 3 /* none, by ptrace, by signal */

struct figures {
	size_t passes;
	unsigned long by_status[MAX_STATUS], by_stop[NUM_ASKED][NUM_STOPS];
	uint32_t *pauses; /* microseconds, of each pass that had an answer */
	size_t num_pauses;
	uint64_t longest_pause_ns[NUM_STOPS], longest_ns;
	unsigned most_tries;
	unsigned long tried_again;
	size_t most_threads;
	char reasons[MAX_STATUS][256]; /* the last of each status */
};

LIVE void
figures_open(struct figures *figures)
{
	void *pauses = mmap(NULL, MAX_PASSES * sizeof(*figures->pauses),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pauses == MAP_FAILED)
		abort();
	*figures = (struct figures) { .pauses = pauses };
}

LIVE void
figures_close(struct figures *figures)
{
	munmap(figures->pauses, MAX_PASSES * sizeof(*figures->pauses));
}

/* Record a pass that was to stop threads as ASKED, an enum mu_stop_option. */
LIVE void
figures_add(struct figures *figures, unsigned asked,
    const struct UnreachableMemoryInfo *info)
{
	unsigned status = (unsigned)info->status % MAX_STATUS;
	unsigned stop = (unsigned)info->stop % NUM_STOPS;

	figures->passes++;
	figures->by_status[status]++;
	figures->by_stop[asked][stop]++;
	memcpy(figures->reasons[status], info->reason, sizeof(info->reason));
	if (figures->num_pauses < MAX_PASSES && info->pause_ns > 0)
		figures->pauses[figures->num_pauses++] =
		    (uint32_t)(info->pause_ns / 1000);
	if (info->pause_ns > figures->longest_pause_ns[stop])
		figures->longest_pause_ns[stop] = info->pause_ns;
	if (info->total_ns > figures->longest_ns)
		figures->longest_ns = info->total_ns;
	if (info->tries > figures->most_tries)
		figures->most_tries = info->tries;
	figures->tried_again += info->tries > 1;
	if (info->num_threads > figures->most_threads)
		figures->most_threads = info->num_threads;
}

static int
compare_pauses(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

LIVE double
in_ms(uint64_t ns)
{
	return (double)ns / (double)NS_PER_MS;
}

LIVE void
print_stops(const struct figures *figures)
{
	static const char *const names[] = { "auto", "ptrace", "signal" };
	unsigned i;

	for (i = 0; i < NUM_ASKED; i++)
		printf("  stop=%-7s by ptrace %lu, by signal %lu, not %lu\n",
		    names[i], figures->by_stop[i][MEMUNREACHABLE_STOP_PTRACE],
		    figures->by_stop[i][MEMUNREACHABLE_STOP_SIGNAL],
		    figures->by_stop[i][MEMUNREACHABLE_STOP_NONE]);
}

LIVE void
figures_print(struct figures *figures)
{
	uint32_t *pauses = figures->pauses;
	size_t half = figures->num_pauses / 2;
	int i;

	printf("passes: %zu\n", figures->passes);
	print_stops(figures);
	for (i = 0; i < MAX_STATUS; i++) {
		if (figures->by_status[i] == 0)
			continue;
		printf("  %s: %lu", memunreachable_status_name(i),
		    figures->by_status[i]);
		if (figures->reasons[i][0] != '\0')
			printf(" (%s)", figures->reasons[i]);
		printf("\n");
	}
	qsort(pauses, figures->num_pauses, sizeof(*pauses), compare_pauses);
	printf("pause: median %.2f ms, longest by ptrace %.2f ms, by signal"
	       " %.2f ms\n",
	    half > 0 ? (double)pauses[half] / 1000 : 0,
	    in_ms(figures->longest_pause_ns[MEMUNREACHABLE_STOP_PTRACE]),
	    in_ms(figures->longest_pause_ns[MEMUNREACHABLE_STOP_SIGNAL]));
	printf("total: longest %.2f ms; tries: at most %u, more than one in"
	       " %lu passes; threads: at most %zu\n",
	    in_ms(figures->longest_ns), figures->most_tries,
	    figures->tried_again, figures->most_threads);
}

/* An answer was had in most passes, and in each of the ways. */
LIVE void
figures_judge(const struct figures *figures)
{
	unsigned long complete = figures->by_status[MEMUNREACHABLE_COMPLETE];

	if (complete < figures->passes / 2)
		wrong("%lu of %zu passes were complete, too few to tell",
		    complete, figures->passes);
}

#endif
