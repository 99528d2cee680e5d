/*
 * Frames: see frames.h.
 *
 * Sorted arrays throughout: a file may hold addresses that collide in any
 * table whose places can be foreseen.
 *
 * Runs in: the command.
 */
#include "lib/view/frames.h"

#include <stdlib.h>
#include <string.h>

#include "lib/view/grow.h"

static int
compare_pcs(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* The addresses of RECORDS, each once; NULL: no memory. */
static uintptr_t *
list_pcs(const struct mu_records *records, size_t *count)
{
	size_t i, kept = 0, all = records->num_frames;
	uintptr_t *pcs = malloc((all + 1) * sizeof(*pcs));

	*count = 0;
	if (pcs == NULL)
		return NULL;
	if (all > 0)
		memcpy(pcs, records->frames, all * sizeof(*pcs));
	qsort(pcs, all, sizeof(*pcs), compare_pcs);
	for (i = 0; i < all; i++) {
		if (kept == 0 || pcs[kept - 1] != pcs[i])
			pcs[kept++] = pcs[i];
	}
	*count = kept;
	return pcs;
}

static bool
add_frames(struct mu_frames *frames, size_t source, uintptr_t pc,
    struct mu_place_names *names)
{
	struct mu_place places[MU_PLACES_MAX];
	size_t i, count = mu_place_names_find(names, pc, places);

	for (i = 0; i < count; i++) {
		if (!mu_grow(&frames->list, frames->count, &frames->max))
			return false;
		frames->list[frames->count++] = (struct mu_frame) {
			.pc = pc,
			.source = source,
			.level = i,
			.place = places[i],
		};
	}
	return true;
}

bool
mu_frames_add(struct mu_frames *frames, const struct mu_records *records,
    size_t source, struct mu_place_names *names)
{
	size_t count, i;
	uintptr_t *pcs = list_pcs(records, &count);
	bool ok = pcs != NULL && mu_place_names_ask(names, pcs, count);

	for (i = 0; ok && i < count; i++)
		ok = add_frames(frames, source, pcs[i], names);
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

/* Equal: the same place in the source, or if that is not known in the file. */
static int
compare_places(const struct mu_place *a, const struct mu_place *b)
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

	return compare_places(x->place, y->place);
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
		named[i] = (struct mu_named) { &frames->list[i].place,
			&frames->list[i] };
	qsort(named, frames->count, sizeof(*named), compare_named);
	for (i = 0; i < frames->count; i++) {
		if (kept == 0 ||
		    compare_places(named[kept - 1].place, named[i].place) != 0)
			named[kept++] = named[i];
		named[i].frame->number = kept - 1;
	}
	frames->named = named;
	frames->num_named = kept;
	return true;
}

static const struct mu_frame *
find(const struct mu_frames *frames, size_t source, uintptr_t pc)
{
	size_t low = 0, high = frames->count, middle;
	const struct mu_frame *frame;

	while (low < high) {
		middle = low + (high - low) / 2;
		frame = &frames->list[middle];
		if (frame->source < source ||
		    (frame->source == source && frame->pc < pc))
			low = middle + 1;
		else
			high = middle;
	}
	return &frames->list[low];
}

/* Those of PC into TO, where there is room for so many; how many there are. */
static size_t
put_numbers(const struct mu_frames *frames, size_t source, uintptr_t pc,
    uintptr_t *to, size_t room)
{
	const struct mu_frame *frame = find(frames, source, pc);
	const struct mu_frame *end = frames->list + frames->count;
	size_t count = 0;

	for (; frame < end && frame->source == source && frame->pc == pc;
	     frame++) {
		if (count < room)
			to[count] = frame->number;
		count++;
	}
	return count;
}

static size_t
put_record(const struct mu_frames *frames, size_t source,
    struct mu_records *records, struct mu_record *record, uintptr_t *to)
{
	size_t i, used = 0;

	for (i = 0; i < record->num_frames; i++)
		used +=
		    put_numbers(frames, source, record->frames[i], to + used,
			used < MU_RECORD_FRAMES ? MU_RECORD_FRAMES - used : 0);
	if (used <= MU_RECORD_FRAMES)
		return used;
	records->num_cut += !record->cut;
	record->cut = true;
	return MU_RECORD_FRAMES;
}

/* Frames that RECORDS have then; stacks may be cut. */
static size_t
room_of(const struct mu_frames *frames, size_t source,
    const struct mu_records *records)
{
	size_t i, count = 0;

	for (i = 0; i < records->num_frames; i++)
		count +=
		    put_numbers(frames, source, records->frames[i], NULL, 0);
	return count;
}

bool
mu_frames_replace(
    const struct mu_frames *frames, struct mu_records *records, size_t source)
{
	uintptr_t *numbers =
	    calloc(room_of(frames, source, records) + 1, sizeof(*numbers));
	uintptr_t *to = numbers;
	struct mu_record *record;
	size_t i, used;

	if (numbers == NULL)
		return false;
	for (i = 0; i < records->count; i++) {
		record = &records->list[i];
		used = put_record(frames, source, records, record, to);
		record->frames = to;
		record->num_frames = used;
		to += used;
	}
	free(records->frames);
	records->frames = numbers;
	records->num_frames = records->max_frames = (size_t)(to - numbers);
	return true;
}

void
mu_frames_release(struct mu_frames *frames)
{
	free(frames->list);
	free(frames->named);
	*frames = (struct mu_frames) { 0 };
}
