#include "lib/watch/verdict.h"

#include <bsd/string.h>
#include <string.h>

#include "lib/growth/growth.h"
#include "lib/writers/exit_status.h"
#include "mu/sort.h"

#define PAGE ((uint64_t)4096)
#define FRAGMENTS ((uint64_t)256 << 10) /* less is what arenas keep anyway */
#define SHARE 20                        /* a group has at least 1 / SHARE */
#define OUTSIDE ((uint64_t)1 << 20)     /* less is stacks and tables */

static struct mu_growth
judge_total(const struct mu_series *series, enum mu_series_total total,
    uint64_t least, bool curve)
{
	const struct mu_growth_rule rule = {
		.certain = MU_GROWTH_ONE, .least = least, .curve = curve
	};

	return mu_growth_judge(
	    series->totals[total], series->times_ns, series->count, &rule);
}

static uint64_t
last_of(const struct mu_series *series, enum mu_series_total total)
{
	return series->count == 0 ? 0
				  : series->totals[total][series->count - 1];
}

static int
compare_growing(const void *a, const void *b)
{
	const struct mu_watch_growing *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->gained != y->gained)
		return x->gained > y->gained ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Add GROWING; where there is no room, instead of the least of its kind. */
static void
add_growing(
    struct mu_watch_result *result, const struct mu_watch_growing *growing)
{
	struct mu_watch_growing *last = &result->growing[MU_WATCH_GROWING - 1];

	if (result->num_growing < MU_WATCH_GROWING)
		last = &result->growing[result->num_growing++];
	else if (compare_growing(growing, last) > 0)
		return;
	*last = *growing;
	mu_sort(result->growing, result->num_growing, sizeof(*last),
	    compare_growing);
}

/*
 * Note the groups of KIND that grow, if all of the kind gained half of what
 * each did: else it is blocks that now have another name.
 */
static void
find_growing(const struct mu_series *series, enum mu_watch_kind kind,
    const struct mu_growth *total, uint64_t least,
    struct mu_watch_result *result)
{
	/* If the total grows, one of them does. */
	const struct mu_growth_rule rule = {
		.certain = total->grows ? MU_GROWTH_ONE : MU_GROWTH_MANY,
		.least = least,
		.curve = kind == MU_WATCH_LIVE
	};
	const struct mu_series_line *line;
	struct mu_watch_growing growing;
	struct mu_growth growth;
	size_t i;

	for (i = 0; i < series->num_lines; i++) {
		line = &series->lines[i];
		if (line->kind != kind)
			continue;
		growth = mu_growth_judge(
		    line->values, series->times_ns, series->count, &rule);
		if (!growth.grows || total->gained < growth.gained / 2 ||
		    growth.gained < total->gained / SHARE)
			continue;
		growing = (struct mu_watch_growing) {
			.kind = kind,
			.gained = growth.gained,
			.per_hour = growth.per_hour,
			.share = growth.gained >= total->gained
			    ? 1
			    : (double)growth.gained / (double)total->gained,
		};
		strlcpy(growing.name, line->name, sizeof(growing.name));
		add_growing(result, &growing);
	}
}

static bool
has_kind(const struct mu_watch_result *result, enum mu_watch_kind kind)
{
	size_t i;

	for (i = 0; i < result->num_growing; i++)
		if (result->growing[i].kind == kind)
			return true;
	return false;
}

/*
 * GROWTH of all of KIND; if that does not grow by itself, as other groups rise
 * and fall, then what the groups gained that do.
 */
static void
count_growing(const struct mu_watch_result *result, enum mu_watch_kind kind,
    struct mu_growth *growth)
{
	size_t i;

	if (growth->grows || !has_kind(result, kind))
		return;
	*growth = (struct mu_growth) { .grows = true };
	for (i = 0; i < result->num_growing; i++) {
		if (result->growing[i].kind != kind)
			continue;
		growth->gained += result->growing[i].gained;
		growth->per_hour += result->growing[i].per_hour;
	}
}

static void
decide(struct mu_watch_result *result, enum mu_watch_verdict verdict,
    const struct mu_growth *growth)
{
	if (!growth->grows || result->verdict != MU_WATCH_STEADY)
		return;
	result->verdict = verdict;
	result->gained = growth->gained;
	result->per_hour = growth->per_hour;
}

static void
judge_heap(const struct mu_series *series, struct mu_watch_result *result)
{
	uint64_t live = last_of(series, MU_SERIES_LIVE);
	uint64_t few = live / 1000 > PAGE ? live / 1000 : PAGE;
	uint64_t heap = live + result->lost + result->held_free;
	struct mu_growth growth;
	uint64_t least;

	growth = judge_total(series, MU_SERIES_LOST, 1, false);
	find_growing(series, MU_WATCH_LOST, &growth, 1, result);
	count_growing(result, MU_WATCH_LOST, &growth);
	decide(result, MU_WATCH_LEAK, &growth);
	growth = judge_total(series, MU_SERIES_LIVE, few, true);
	result->rising = growth.rises;
	find_growing(series, MU_WATCH_LIVE, &growth, few, result);
	count_growing(result, MU_WATCH_LIVE, &growth);
	decide(result, MU_WATCH_GROWTH, &growth);
	least = heap / 20 > FRAGMENTS ? heap / 20 : FRAGMENTS;
	growth = judge_total(series, MU_SERIES_FREE, least, true);
	/* What was freed and is kept leaves the heap as large as it was. */
	growth.grows &= judge_total(series, MU_SERIES_HEAP, least, true).grows;
	decide(result, MU_WATCH_FRAGMENTATION, &growth);
	growth = judge_total(series, MU_SERIES_OUTSIDE, OUTSIDE, true);
	if (growth.grows && result->verdict == MU_WATCH_STEADY) {
		decide(result, MU_WATCH_GROWTH, &growth);
		result->outside = true;
	}
	result->rising &= result->verdict == MU_WATCH_STEADY;
}

void
mu_watch_judge(const struct mu_series *series, struct mu_watch_result *result)
{
	*result = (struct mu_watch_result) {
		.verdict = MU_WATCH_STEADY,
		.looks = series->kept.taken,
		.unchecked = series->unchecked,
		.partial = series->partial,
		.live = last_of(series, MU_SERIES_LIVE),
		.lost = last_of(series, MU_SERIES_LOST),
		.held_free = last_of(series, MU_SERIES_FREE),
		.first_lost = series->first_lost,
	};
	strlcpy(result->reason, series->reason, sizeof(result->reason));
	if (series->count > 0)
		result->span_ns =
		    series->times_ns[series->count - 1] - series->times_ns[0];
	if (series->kept.taken == 0)
		result->verdict = MU_WATCH_UNCHECKED;
	else if (series->kept.taken < MU_GROWTH_LOOKS)
		result->verdict = MU_WATCH_TOO_FEW;
	else
		judge_heap(series, result);
}

void
mu_watch_judge_rounds(struct mu_watch_result *result, bool leak)
{
	if (!leak || result->verdict == MU_WATCH_LEAK)
		return;
	result->verdict = MU_WATCH_LEAK;
	result->outside = false;
	result->gained = result->lost - result->first_lost;
	result->per_hour = result->span_ns == 0
	    ? 0
	    : (double)result->gained * 3600e9 / (double)result->span_ns;
}

const char *
mu_watch_verdict_word(enum mu_watch_verdict verdict)
{
	static const char *const words[] = {
		[MU_WATCH_UNCHECKED] = "unchecked",
		[MU_WATCH_TOO_FEW] = "too_few_looks",
		[MU_WATCH_STEADY] = "steady",
		[MU_WATCH_FRAGMENTATION] = "fragmentation",
		[MU_WATCH_GROWTH] = "growth",
		[MU_WATCH_LEAK] = "leak",
	};

	return words[verdict];
}

int
mu_watch_exit_status(const struct mu_watch_result *result)
{
	switch (result->verdict) {
	case MU_WATCH_LEAK:
		return MU_EXIT_LEAKS;
	case MU_WATCH_UNCHECKED:
		return MU_EXIT_UNCHECKED;
	case MU_WATCH_TOO_FEW:
		return MU_EXIT_PARTIAL;
	default:
		return result->unchecked + result->partial > result->looks / 2
		    ? MU_EXIT_PARTIAL
		    : MU_EXIT_CLEAN;
	}
}
