#include "lib/watch/series.h"

#include <bsd/string.h>
#include <string.h>

#include "mu/sort.h"

const char *
mu_watch_kind_name(enum mu_watch_kind kind)
{
	static const char *const names[MU_WATCH_KINDS] = {
		[MU_WATCH_LOST] = "lost",
		[MU_WATCH_LIVE] = "live",
		[MU_WATCH_HELD] = "held",
	};

	return names[kind];
}

static void
halve_all(struct mu_series *series)
{
	size_t i;

	mu_kept_halve(series->times_ns);
	for (i = 0; i < MU_SERIES_TOTALS; i++)
		mu_kept_halve(series->totals[i]);
	mu_kept_halve(series->typed_at);
	for (i = 0; i < series->num_lines; i++) {
		mu_kept_halve(series->lines[i].values);
		mu_kept_halve(series->lines[i].blocks);
	}
}

uint64_t
mu_series_gained_outside(const struct mu_series *series)
{
	const uint64_t *outside = series->totals[MU_SERIES_OUTSIDE];

	return series->count == 0
	    ? 0
	    : mu_gain(outside[0], outside[series->count - 1]);
}

const struct mu_series_line *
mu_series_find(
    const struct mu_series *series, enum mu_watch_kind kind, const char *name)
{
	size_t i;

	for (i = 0; i < series->num_lines; i++)
		if (series->lines[i].kind == kind &&
		    mu_watch_is_named(series->lines[i].name, name))
			return &series->lines[i];
	return NULL;
}

/*
 * A line for GROUP, which had no bytes before; where there is no room, that of
 * the group with the fewest bytes at PLACE. NULL if GROUP has still fewer.
 */
static struct mu_series_line *
new_line(
    struct mu_series *series, const struct mu_watch_group *group, size_t place)
{
	struct mu_series_line *line = &series->lines[0];
	size_t i;

	if (series->num_lines < MU_SERIES_LINES) {
		line = &series->lines[series->num_lines++];
	} else {
		for (i = 1; i < series->num_lines; i++)
			if (series->lines[i].values[place] <
			    line->values[place])
				line = &series->lines[i];
		if (group->bytes <= line->values[place])
			return NULL;
	}
	memset(line, 0, sizeof(*line));
	strlcpy(line->name, group->name, sizeof(line->name));
	line->kind = group->kind;
	return line;
}

/* Figures of LINE that the look at PLACE does not know. */
static void
fill_line(struct mu_series_line *line, size_t place, bool typed)
{
	line->values[place] = line->blocks[place] = 0;
	if (line->kind != MU_WATCH_LOST && !typed && place > 0) {
		line->values[place] = line->values[place - 1];
		line->blocks[place] = line->blocks[place - 1];
	}
}

/* Live groups are before the first look that knows them as they are there. */
static void
fill_before(struct mu_series_line *line, size_t place)
{
	size_t i;

	for (i = 0; i < place; i++) {
		line->values[i] = line->values[place];
		line->blocks[i] = line->blocks[place];
	}
}

/* What is not proven in each look is not certain. */
static void
take_doubt(struct mu_series_line *line, const struct mu_watch_group *group)
{
	if (strlen(group->name) > strlen(line->name))
		strlcpy(line->name, group->name, sizeof(line->name));
}

/*
 * The groups of a look without the types that earlier looks had have other
 * names: those of the look before count.
 */
static void
add_groups(
    struct mu_series *series, const struct mu_watch_look *look, size_t place)
{
	bool typed =
	    look->typed != MU_TYPED_NOT && look->typed >= series->typed;
	const struct mu_watch_group *group = look->groups;
	struct mu_series_line *line;
	bool added;
	size_t i;

	for (i = 0; i < series->num_lines; i++)
		fill_line(&series->lines[i], place, typed);
	for (i = 0; i < look->num_groups; i++, group++) {
		if (group->kind != MU_WATCH_LOST && !typed)
			continue;
		line = (struct mu_series_line *)mu_series_find(
		    series, group->kind, group->name);
		added = line == NULL;
		if (added)
			line = new_line(series, group, place);
		if (line == NULL)
			continue;
		take_doubt(line, group);
		line->values[place] = group->bytes;
		line->blocks[place] = group->blocks;
		if (added && line->kind != MU_WATCH_LOST &&
		    series->typed < look->typed)
			fill_before(line, place);
	}
	if (typed)
		series->typed = look->typed;
}

static int
compare_stale(const void *a, const void *b)
{
	const struct mu_watch_group *x = a, *y = b;

	return (x->stale_bytes < y->stale_bytes) -
	    (x->stale_bytes > y->stale_bytes);
}

/* Those with the most bytes. */
static void
note_stale(struct mu_series *series, const struct mu_watch_look *look)
{
	const struct mu_watch_group *group = look->groups;
	struct mu_watch_group *last = &series->stale[MU_SERIES_STALE - 1];
	size_t i;

	series->num_stale = 0;
	for (i = 0; i < look->num_groups; i++, group++) {
		if (group->stale_seconds == 0)
			continue;
		if (series->num_stale < MU_SERIES_STALE)
			series->stale[series->num_stale++] = *group;
		else if (compare_stale(group, last) < 0)
			*last = *group;
		mu_sort(series->stale, series->num_stale,
		    sizeof(*series->stale), compare_stale);
	}
}

void
mu_series_add(struct mu_series *series, const struct mu_watch_look *look)
{
	uint64_t held = look->live + look->lost + look->held_free;
	size_t place;
	bool halve;

	if (!mu_watch_look_checked(look)) {
		series->unchecked++;
		series->status = look->status;
		strlcpy(series->reason, look->reason, sizeof(series->reason));
		return;
	}
	if (look->status == MEMUNREACHABLE_PARTIAL)
		series->partial++;
	place = mu_kept_next(&series->kept, &halve);
	series->count = series->kept.count;
	if (halve)
		halve_all(series);
	if (series->kept.taken == 1) {
		series->first_live = look->live;
		series->first_lost = look->lost;
	}
	series->last_lost = look->lost;
	series->times_ns[place] = look->mono_ns;
	series->totals[MU_HEAP_LIVE][place] = look->live;
	series->totals[MU_HEAP_LOST][place] = look->lost;
	series->totals[MU_HEAP_FREE][place] = look->held_free;
	series->totals[MU_HEAP_ALL][place] = held;
	series->totals[MU_SERIES_OUTSIDE][place] =
	    look->anon > held ? look->anon - held : 0;
	series->typed_at[place] = look->typed;
	add_groups(series, look, place);
	if (look->typed != 0)
		note_stale(series, look);
}
