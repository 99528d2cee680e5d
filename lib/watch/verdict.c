#include "lib/watch/verdict.h"

#include <bsd/string.h>
#include <string.h>

#include "lib/writers/exit_status.h"
#include "mu/sort.h"

#define SHARE 20                    /* a group has at least 1 / SHARE */
#define OUTSIDE ((uint64_t)1 << 20) /* less is stacks and tables */

static uint64_t
last_of(const struct mu_series *series, enum mu_heap_total total)
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
 * What LINE gained, if it grows. What is HELD grows if there are ever more
 * elements, else they get larger; its bytes may come in steps, as of a table
 * that doubles, which no order proves.
 */
static bool
judge_line(const struct mu_series *series, const struct mu_series_line *line,
    const struct mu_growth_rule *rule, struct mu_watch_growing *growing,
    struct mu_growth *growth)
{
	const struct mu_growth_rule more = {
		.certain = rule->certain, .least = 1, .curve = true
	};
	struct mu_growth elements;

	*growth = mu_growth_judge(
	    line->values, series->times_ns, series->count, rule);
	growing->kind = line->kind;
	growing->gained = growth->gained;
	growing->per_hour = growth->per_hour;
	if (line->kind != MU_WATCH_HELD)
		return growth->grows;
	elements = mu_growth_judge(
	    line->blocks, series->times_ns, series->count, &more);
	growing->elements_per_hour = elements.per_hour;
	return elements.grows && growth->per_hour > 0 &&
	    growth->gained >= rule->least;
}

/* True if PATH leads to what HOLDER has. */
static bool
is_behind(const char *path, const char *holder)
{
	size_t length = strlen(holder);

	return strncmp(path, holder, length) == 0 &&
	    (path[length] == '.' || path[length] == '[');
}

/* What an element has grows with the number of elements: it is left out. */
static void
drop_behind(struct mu_watch_result *result)
{
	const struct mu_watch_growing *all = result->growing;
	size_t i, j, kept = 0;
	bool behind;

	for (i = 0; i < result->num_growing; i++) {
		behind = false;
		for (j = 0; j < result->num_growing; j++)
			behind |= all[i].kind == MU_WATCH_HELD &&
			    all[j].kind == MU_WATCH_HELD &&
			    is_behind(all[i].name, all[j].name);
		if (!behind)
			result->growing[kept++] = all[i];
	}
	result->num_growing = kept;
}

/* Live bytes and those outside of the heap. */
static void
add_outside(const struct mu_series *series, uint64_t all[MU_SERIES_LOOKS])
{
	size_t i;

	for (i = 0; i < series->count; i++)
		all[i] = series->totals[MU_HEAP_LIVE][i] +
		    series->totals[MU_SERIES_OUTSIDE][i];
}

/*
 * What LINE gained of what all of its kind did, by TOTALS, from the look FROM
 * on, 0 to 1: between the first and the last look that knows the live groups
 * best, if these are two.
 */
static double
find_share(const struct mu_series *series, const struct mu_series_line *line,
    const uint64_t *totals, size_t from)
{
	size_t first = from, end = series->count - 1, last = end;
	uint64_t all, own;

	if (line->kind != MU_WATCH_LOST) {
		while (first < last && series->typed_at[first] < series->typed)
			first++;
		while (first < last && series->typed_at[last] < series->typed)
			last--;
	}
	if (first == last) {
		first = from;
		last = end;
	}
	all = mu_gain(totals[first], totals[last]);
	own = mu_gain(line->values[first], line->values[last]);
	return own >= all ? 1 : (double)own / (double)all;
}

/*
 * Note the groups of KIND that grow, if all of the kind, TOTALS that have the
 * growth TOTAL, gained half of what each did: else it is blocks that now have
 * another name.
 */
static void
find_growing(const struct mu_series *series, enum mu_watch_kind kind,
    const uint64_t *totals, const struct mu_growth *total, uint64_t least,
    struct mu_watch_result *result)
{
	/* If the total grows, one of them does. */
	const struct mu_growth_rule rule = {
		.certain = total->grows ? MU_GROWTH_ONE : MU_GROWTH_MANY,
		.least = least,
		.curve = kind != MU_WATCH_LOST
	};
	const struct mu_series_line *line;
	struct mu_watch_growing growing;
	struct mu_growth growth;
	size_t i;

	for (i = 0; i < series->num_lines; i++) {
		line = &series->lines[i];
		growing = (struct mu_watch_growing) { .share = 0 };
		if (line->kind != kind ||
		    !judge_line(series, line, &rule, &growing, &growth) ||
		    total->gained < growth.gained / 2 ||
		    growth.gained < total->gained / SHARE)
			continue;
		growing.share = find_share(series, line, totals, growth.from);
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

static struct mu_growth
judge_outside(const struct mu_series *series, const uint64_t *values)
{
	const struct mu_growth_rule rule = {
		.certain = MU_GROWTH_ONE, .least = OUTSIDE, .curve = true
	};

	return mu_growth_judge(values, series->times_ns, series->count, &rule);
}

/*
 * What holds ever more: of live memory; of all if most of what came is not
 * malloc's, as objects of CPython are not. If neither grows it moves from one
 * holder to another.
 */
static void
find_holders(const struct mu_series *series, const struct mu_growth *live,
    uint64_t least, struct mu_watch_result *result)
{
	uint64_t values[MU_SERIES_LOOKS];
	struct mu_growth all;

	add_outside(series, values);
	all = judge_outside(series, values);
	result->of_all =
	    all.grows && (!live->grows || all.gained / 2 > live->gained);
	if (result->of_all)
		find_growing(
		    series, MU_WATCH_HELD, values, &all, least, result);
	else if (live->grows)
		find_growing(series, MU_WATCH_HELD,
		    series->totals[MU_HEAP_LIVE], live, least, result);
	drop_behind(result);
}

static void
add_gain(struct mu_watch_result *result, enum MemunreachableVerdict verdict,
    const struct mu_growth *growth)
{
	if (growth->grows)
		result->gains[result->num_gains++] = (struct mu_watch_gain) {
			.verdict = verdict,
			.gained = growth->gained,
			.per_hour = growth->per_hour,
		};
}

static int
compare_growth_first(const void *a, const void *b)
{
	const struct mu_watch_growing *x = a, *y = b;

	if ((x->kind == MU_WATCH_LOST) != (y->kind == MU_WATCH_LOST))
		return x->kind == MU_WATCH_LOST ? 1 : -1;
	return compare_growing(a, b);
}

/* The leak is first. */
static void
order_gains(struct mu_watch_result *result)
{
	struct mu_watch_gain leak = result->gains[0];

	if (result->num_gains < 2 || result->gains[1].per_hour <= leak.per_hour)
		return;
	result->gains[0] = result->gains[1];
	result->gains[1] = leak;
	mu_sort(result->growing, result->num_growing, sizeof(*result->growing),
	    compare_growth_first);
}

static void
judge_heap(const struct mu_series *series, struct mu_watch_result *result)
{
	struct mu_heap_growth heap;
	struct mu_growth growth;

	mu_heap_growth_judge(
	    &heap, series->times_ns, series->totals, series->count);
	result->rising = heap.live.rises;
	find_growing(series, MU_WATCH_LOST, series->totals[MU_HEAP_LOST],
	    &heap.lost, 1, result);
	count_growing(result, MU_WATCH_LOST, &heap.lost);
	find_growing(series, MU_WATCH_LIVE, series->totals[MU_HEAP_LIVE],
	    &heap.live, heap.few, result);
	count_growing(result, MU_WATCH_LIVE, &heap.live);
	find_holders(series, &heap.live, heap.few, result);
	result->verdict = mu_heap_growth_verdict(&heap, &growth);
	if (result->verdict == MEMUNREACHABLE_VERDICT_STEADY) {
		growth =
		    judge_outside(series, series->totals[MU_SERIES_OUTSIDE]);
		count_growing(result, MU_WATCH_HELD, &growth);
		result->outside = growth.grows;
		if (growth.grows)
			result->verdict = MEMUNREACHABLE_VERDICT_GROWTH;
	}
	result->rising &= result->verdict == MEMUNREACHABLE_VERDICT_STEADY;
	add_gain(result, result->verdict, &growth);
	if (result->verdict == MEMUNREACHABLE_VERDICT_LEAK)
		add_gain(result, MEMUNREACHABLE_VERDICT_GROWTH, &heap.live);
	order_gains(result);
}

void
mu_watch_judge(const struct mu_series *series, struct mu_watch_result *result)
{
	size_t i;

	*result = (struct mu_watch_result) {
		.verdict = mu_kept_verdict(&series->kept),
		.looks = series->kept.taken,
		.unchecked = series->unchecked,
		.partial = series->partial,
		.live = last_of(series, MU_HEAP_LIVE),
		.lost = last_of(series, MU_HEAP_LOST),
		.held_free = last_of(series, MU_HEAP_FREE),
		.first_lost = series->first_lost,
	};
	strlcpy(result->reason, series->reason, sizeof(result->reason));
	for (i = 0; i < series->count; i++)
		result->typed += series->typed_at[i] != MU_TYPED_NOT;
	if (series->count > 0)
		result->span_ns =
		    series->times_ns[series->count - 1] - series->times_ns[0];
	if (result->verdict == MEMUNREACHABLE_VERDICT_STEADY)
		judge_heap(series, result);
}

void
mu_watch_judge_rounds(struct mu_watch_result *result, bool leak)
{
	uint64_t gained = result->lost - result->first_lost;

	if (!leak || result->verdict == MEMUNREACHABLE_VERDICT_LEAK)
		return;
	if (result->verdict != MEMUNREACHABLE_VERDICT_GROWTH || result->outside)
		result->num_gains = 0;
	result->verdict = MEMUNREACHABLE_VERDICT_LEAK;
	result->outside = false;
	result->gains[1] = result->gains[0];
	result->gains[0] = (struct mu_watch_gain) {
		.verdict = MEMUNREACHABLE_VERDICT_LEAK,
		.gained = gained,
		.per_hour = result->span_ns == 0
		    ? 0
		    : (double)gained * 3600e9 / (double)result->span_ns,
	};
	result->num_gains++;
	order_gains(result);
}

struct mu_watch_gain
mu_watch_main_gain(const struct mu_watch_result *result)
{
	size_t i;

	for (i = 0; i < result->num_gains; i++)
		if (result->gains[i].verdict == result->verdict)
			return result->gains[i];
	return (struct mu_watch_gain) { .verdict = result->verdict };
}

const char *
mu_watch_verdict_name(enum MemunreachableVerdict verdict)
{
	static const char *const words[] = {
		[MEMUNREACHABLE_VERDICT_UNCHECKED] = "unchecked",
		[MEMUNREACHABLE_VERDICT_TOO_FEW] = "too_few_looks",
		[MEMUNREACHABLE_VERDICT_STEADY] = "steady",
		[MEMUNREACHABLE_VERDICT_FRAGMENTATION] = "fragmentation",
		[MEMUNREACHABLE_VERDICT_GROWTH] = "growth",
		[MEMUNREACHABLE_VERDICT_LEAK] = "leak",
	};

	return words[verdict];
}

int
mu_watch_exit_status(const struct mu_watch_result *result)
{
	switch (result->verdict) {
	case MEMUNREACHABLE_VERDICT_LEAK:
		return MU_EXIT_LEAKS;
	case MEMUNREACHABLE_VERDICT_UNCHECKED:
		return MU_EXIT_UNCHECKED;
	case MEMUNREACHABLE_VERDICT_TOO_FEW:
		return MU_EXIT_PARTIAL;
	default:
		return result->unchecked + result->partial > result->looks / 2
		    ? MU_EXIT_PARTIAL
		    : MU_EXIT_CLEAN;
	}
}
