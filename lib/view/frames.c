#include "lib/view/frames.h"
#include "mu/array.h"

#include <stdlib.h>
#include <string.h>

static int
compare_pcs(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* The slot of PC in the index of PCS, or a free one. */
static struct mu_hash_slot *
find_pc(const struct mu_hash_index *index, const uintptr_t *pcs, uintptr_t pc,
    uint32_t hash)
{
	struct mu_hash_slot *slot = NULL;

	do {
		slot = mu_hash_find(index, hash, slot);
	} while (slot->number != 0 && pcs[slot->number - 1] != pc);
	return slot;
}

/*
 * List the distinct addresses of RECORDS, sorted. Returns false without memory.
 */
static bool
list_pcs(const struct mu_records *records, uintptr_t **pcs, size_t *count)
{
	struct mu_hash_index index = { 0 };
	struct mu_hash_slot *slot;
	size_t i, max = 0;
	bool ok = true;
	uint32_t hash;

	for (i = 0; i < records->num_frames; i++) {
		ok = mu_hash_room(&index) &&
		    mu_array_room(*pcs, *count, max, 128, SIZE_MAX);
		if (!ok)
			break;
		hash = mu_hash_words(&index, &records->frames[i], 1);
		slot = find_pc(&index, *pcs, records->frames[i], hash);
		if (slot->number != 0)
			continue;
		mu_hash_put(&index, slot, hash, *count);
		(*pcs)[(*count)++] = records->frames[i];
	}
	mu_hash_release(&index);
	if (*count > 0)
		qsort(*pcs, *count, sizeof(**pcs), compare_pcs);
	return ok;
}

/* The slot of the first frame of PC, or a free one. */
static struct mu_hash_slot *
find_frame(
    const struct mu_frames *frames, size_t source, uintptr_t pc, uint32_t *hash)
{
	const struct mu_frame *frame;
	struct mu_hash_slot *slot = NULL;

	*hash = mu_hash_words(&frames->index, (uintptr_t[]) { pc, source }, 2);
	for (;;) {
		slot = mu_hash_find(&frames->index, *hash, slot);
		if (slot->number == 0)
			return slot;
		frame = &frames->list[slot->number - 1];
		if (frame->pc == pc && frame->source == source)
			return slot;
	}
}

static bool
add_frames(struct mu_frames *frames, size_t source, uintptr_t pc,
    struct mu_locations *names)
{
	struct mu_location locations[MU_LOCATIONS_MAX];
	size_t i, count = mu_locations_find(names, pc, locations);
	struct mu_hash_slot *slot;
	uint32_t hash;

	if (!mu_hash_room(&frames->index))
		return false;
	slot = find_frame(frames, source, pc, &hash);
	mu_hash_put(&frames->index, slot, hash, frames->count);
	for (i = 0; i < count; i++) {
		if (!mu_array_room(frames->list, frames->count, frames->max,
			128, SIZE_MAX))
			return false;
		frames->list[frames->count++] = (struct mu_frame) {
			.pc = pc,
			.source = source,
			.level = i,
			.location = locations[i],
		};
	}
	return true;
}

bool
mu_frames_add(struct mu_frames *frames, const struct mu_records *records,
    size_t source, struct mu_locations *names)
{
	uintptr_t *pcs = NULL;
	size_t count = 0, i;
	bool ok = list_pcs(records, &pcs, &count) &&
	    mu_locations_ask(names, pcs, count);

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
		named[i].frame->number = kept - 1;
	}
	frames->named = named;
	frames->num_named = kept;
	return true;
}

/* Write the frames of PC to TO, up to ROOM. Returns their number. */
static size_t
put_numbers(const struct mu_frames *frames, size_t source, uintptr_t pc,
    uintptr_t *to, size_t room)
{
	uint32_t hash;
	const struct mu_hash_slot *slot = find_frame(frames, source, pc, &hash);
	const struct mu_frame *frame = &frames->list[slot->number - 1];
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

/* TO may be the stack itself, if no address has more than one number. */
static size_t
put_stack(const struct mu_frames *frames, size_t source, const uintptr_t *stack,
    size_t count, uintptr_t *to)
{
	size_t i, used = 0;

	for (i = 0; i < count && used < MU_RECORD_FRAMES; i++)
		used += put_numbers(frames, source, stack[i], to + used,
		    MU_RECORD_FRAMES - used);
	return used < MU_RECORD_FRAMES ? used : MU_RECORD_FRAMES;
}

/* The number of frames that RECORDS will have; stacks may be cut. */
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
	size_t room = room_of(frames, source, records), i, used = 0;
	uintptr_t *numbers = records->frames;
	struct mu_record_stack *stack = records->stacks;

	if (room > records->num_frames)
		numbers = malloc(room * sizeof(*numbers));
	if (numbers == NULL && room > 0)
		return false;
	for (i = 0; i < records->num_stacks; i++, stack++) {
		if (records->frames != NULL)
			stack->num_frames = put_stack(frames, source,
			    &records->frames[stack->first], stack->num_frames,
			    &numbers[used]);
		stack->first = used;
		used += stack->num_frames;
	}
	if (numbers != records->frames)
		free(records->frames);
	records->frames = numbers;
	records->num_frames = used;
	records->max_frames = room;
	mu_records_seal(records);
	return true;
}

void
mu_frames_release(struct mu_frames *frames)
{
	mu_hash_release(&frames->index);
	free(frames->list);
	free(frames->named);
	*frames = (struct mu_frames) { 0 };
}
