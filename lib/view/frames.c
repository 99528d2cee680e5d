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

bool
mu_frames_add(struct mu_frames *frames, const struct mu_records *records,
    size_t source, struct mu_place_names *names)
{
	struct mu_frame *grown, *frame;
	size_t count, i;
	uintptr_t *pcs = list_pcs(records, &count);

	if (pcs == NULL)
		return false;
	grown = reallocarray(
	    frames->list, frames->count + count + 1, sizeof(*grown));
	if (grown == NULL) {
		free(pcs);
		return false;
	}
	frames->list = grown;
	for (i = 0; i < count; i++) {
		frame = &grown[frames->count++];
		*frame = (struct mu_frame) { .pc = pcs[i], .source = source };
		mu_place_names_find(names, pcs[i], &frame->place);
	}
	free(pcs);
	return true;
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

void
mu_frames_replace(
    const struct mu_frames *frames, struct mu_records *records, size_t source)
{
	size_t i;

	for (i = 0; i < records->num_frames; i++)
		records->frames[i] =
		    find(frames, source, records->frames[i])->number;
}

void
mu_frames_release(struct mu_frames *frames)
{
	free(frames->list);
	free(frames->named);
	*frames = (struct mu_frames) { 0 };
}
