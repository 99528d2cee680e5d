#include "lib/view/frames.h"
#include "mu/array.h"

#include <stdlib.h>
#include <string.h>

/* An address and its number. */
struct address {
	uintptr_t pc;
	size_t number;
};

static int
compare_addresses(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

static void
sort_addresses(const struct mu_addresses *addresses, struct address *sorted,
    uintptr_t *pcs)
{
	size_t i;

	for (i = 0; i < addresses->count; i++)
		sorted[i] = (struct address) { addresses->list[i], i };
	qsort(sorted, addresses->count, sizeof(*sorted), compare_addresses);
	for (i = 0; i < addresses->count; i++)
		pcs[i] = sorted[i].pc;
}

static bool
add_frames(struct mu_frames *frames, uintptr_t pc, struct mu_locations *names)
{
	struct mu_location locations[MU_LOCATIONS_MAX];
	size_t i, count = mu_locations_find(names, pc, locations);

	for (i = 0; i < count; i++) {
		if (!mu_array_room(frames->list, frames->count, frames->max,
			128, UINT32_MAX))
			return false;
		frames->list[frames->count++] = (struct mu_frame) {
			.level = (uint32_t)i,
			.location = locations[i],
		};
	}
	return true;
}

bool
mu_frames_add(struct mu_frames *frames, const struct mu_addresses *addresses,
    size_t source, struct mu_locations *names)
{
	size_t i, count = addresses->count;
	struct address *sorted = calloc(count + 1, sizeof(*sorted));
	uintptr_t *pcs = calloc(count + 1, sizeof(*pcs));
	uint32_t *first = calloc(count + 1, sizeof(*first));
	bool ok = sorted != NULL && pcs != NULL && first != NULL;

	frames->first[source] = first;
	if (ok) {
		sort_addresses(addresses, sorted, pcs);
		ok = mu_locations_ask(names, pcs, count);
	}
	for (i = 0; ok && i < count; i++) {
		first[sorted[i].number] = (uint32_t)frames->count;
		ok = add_frames(frames, pcs[i], names);
	}
	free(sorted);
	free(pcs);
	return ok;
}

static int
compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (a == NULL || b == NULL)
		return a == NULL ? 1 : -1;
	return strcmp(a, b);
}

/*
 * Equal: the same source location or, if that is not known, the same place in
 * the file.
 */
static int
compare_locations(const struct mu_location *a, const struct mu_location *b)
{
	int order = compare_text(a->module, b->module);

	if (order == 0)
		order = compare_text(a->function, b->function);
	if (order == 0)
		order = compare_text(a->file, b->file);
	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	if (order == 0 && a->line == 0)
		order = (a->offset > b->offset) - (a->offset < b->offset);
	return order;
}

static int
compare_named(const void *a, const void *b)
{
	const struct mu_named *x = a, *y = b;

	return compare_locations(x->location, y->location);
}

bool
mu_frames_number(struct mu_frames *frames)
{
	struct mu_named *named;
	size_t i, kept = 0;

	named = calloc(frames->count + 1, sizeof(*named));
	if (named == NULL)
		return false;
	for (i = 0; i < frames->count; i++)
		named[i] = (struct mu_named) { &frames->list[i].location,
			&frames->list[i] };
	qsort(named, frames->count, sizeof(*named), compare_named);
	for (i = 0; i < frames->count; i++) {
		if (kept == 0 ||
		    compare_locations(
			named[kept - 1].location, named[i].location) != 0)
			named[kept++] = named[i];
		named[i].frame->number = (uint32_t)(kept - 1);
	}
	frames->named = named;
	frames->num_named = kept;
	return true;
}

void
mu_frames_replace(
    const struct mu_frames *frames, size_t source, struct mu_record *record)
{
	uintptr_t numbers[MU_RECORD_FRAMES];
	size_t i, at, used = 0;

	for (i = 0; i < record->num_frames && used < MU_RECORD_FRAMES; i++) {
		at = frames->first[source][record->frames[i]];
		do {
			numbers[used++] = frames->list[at].number;
		} while (used < MU_RECORD_FRAMES && ++at < frames->count &&
		    frames->list[at].level > 0);
	}
	memcpy(record->frames, numbers, used * sizeof(*numbers));
	record->num_frames = used;
}

void
mu_frames_release(struct mu_frames *frames)
{
	size_t i;

	for (i = 0; i < MU_FRAMES_SOURCES; i++)
		free(frames->first[i]);
	free(frames->list);
	free(frames->named);
	*frames = (struct mu_frames) { 0 };
}
