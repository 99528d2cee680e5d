#include "heapwalk/subject/ranges.h"

#include "mu/sort.h"

#define FIRST_MAX 32

/* Index of the first range that ends after ADDRESS; count if none does. */
static size_t
first_behind(const struct mu_ranges *set, uintptr_t address)
{
	size_t i = mu_ranges_upper(
	    set->items, set->count, sizeof(*set->items), address);

	return i > 0 && set->items[i - 1].end > address ? i - 1 : i;
}

void
mu_ranges_open(struct mu_ranges *set, struct mu_arena *arena)
{
	*set = (struct mu_ranges) { .arena = arena };
}

bool
mu_ranges_add(struct mu_ranges *set, struct mu_range range)
{
	if (mu_range_size(range) == 0)
		return true;
	if (!mu_arena_room(
		set->arena, set->items, set->count, set->max, FIRST_MAX))
		return false;
	set->items[set->count++] = range;
	return true;
}

bool
mu_ranges_add_all(
    struct mu_ranges *set, const struct mu_range *ranges, size_t count)
{
	size_t before = set->count, i;

	for (i = 0; i < count; i++) {
		if (!mu_ranges_add(set, ranges[i])) {
			set->count = before;
			return false;
		}
	}
	return true;
}

void
mu_ranges_seal(struct mu_ranges *set)
{
	struct mu_range *last;
	size_t i;

	if (set->count == 0)
		return;
	mu_sort(set->items, set->count, sizeof(*set->items), mu_range_compare);
	last = set->items;
	for (i = 1; i < set->count; i++) {
		if (set->items[i].begin > last->end)
			*++last = set->items[i];
		else if (set->items[i].end > last->end)
			last->end = set->items[i].end;
	}
	set->count = (size_t)(last - set->items) + 1;
}

bool
mu_ranges_has(const struct mu_ranges *set, uintptr_t address)
{
	size_t i = first_behind(set, address);

	return i < set->count && set->items[i].begin <= address;
}

bool
mu_ranges_cut(const struct mu_ranges *set, struct mu_range *rest,
    struct mu_range *piece, bool *inside)
{
	const struct mu_range *next;
	size_t i;

	if (mu_range_size(*rest) == 0)
		return false;
	i = first_behind(set, rest->begin);
	next = i < set->count ? &set->items[i] : NULL;
	*piece = *rest;
	*inside = next != NULL && next->begin <= rest->begin;
	if (*inside && next->end < piece->end)
		piece->end = next->end;
	if (!*inside && next != NULL && next->begin < piece->end)
		piece->end = next->begin;
	rest->begin = piece->end;
	return true;
}

bool
mu_ranges_gap(
    const struct mu_ranges *set, struct mu_range *rest, struct mu_range *piece)
{
	bool inside;

	while (mu_ranges_cut(set, rest, piece, &inside)) {
		if (!inside)
			return true;
	}
	return false;
}
