#include "lib/view/records.h"

#include <stdlib.h>
#include <string.h>

#include "lib/view/saturate.h"
#include "mu/array.h"

struct mu_record *
mu_records_add(struct mu_records *records)
{
	struct mu_record *record;

	if (records->num_stacks >= MU_HASH_MAX ||
	    !mu_array_room(
		records->list, records->count, records->max, 128, SIZE_MAX) ||
	    !mu_array_room(records->stacks, records->num_stacks,
		records->max_stacks, 128, SIZE_MAX))
		return NULL;
	record = &records->list[records->count++];
	*record = (struct mu_record) {
		.count = 1,
		.stack = (uint32_t)records->num_stacks,
	};
	records->stacks[records->num_stacks++] =
	    (struct mu_record_stack) { .first = records->num_frames };
	return record;
}

bool
mu_records_frame(struct mu_records *records, uintptr_t pc)
{
	struct mu_record *record = &records->list[records->count - 1];

	if (record->num_frames == MU_RECORD_FRAMES) {
		records->num_cut += !record->cut;
		record->cut = true;
		return true;
	}
	if (!mu_array_room(records->frames, records->num_frames,
		records->max_frames, 128, SIZE_MAX))
		return false;
	records->frames[records->num_frames++] = pc;
	records->stacks[record->stack].num_frames = ++record->num_frames;
	return true;
}

/* Remove the last record's stack, which no other record uses. */
static void
drop_stack(struct mu_records *records)
{
	records->num_frames = records->stacks[--records->num_stacks].first;
}

void
mu_records_drop(struct mu_records *records)
{
	records->num_cut -= records->list[--records->count].cut;
	drop_stack(records);
}

static bool
same_stack(const struct mu_records *records, const struct mu_record_stack *a,
    const struct mu_record_stack *b)
{
	return a->num_frames == b->num_frames &&
	    (a->num_frames == 0 ||
		memcmp(&records->frames[a->first], &records->frames[b->first],
		    a->num_frames * sizeof(*records->frames)) == 0);
}

static bool
share_stack(struct mu_records *records, struct mu_record *record)
{
	const struct mu_record_stack *stack = &records->stacks[record->stack];
	struct mu_hash_slot *slot = NULL;
	uint32_t hash;

	if (!mu_hash_room(&records->stack_index))
		return false;
	hash = mu_hash_words(&records->stack_index,
	    stack->num_frames == 0 ? NULL : &records->frames[stack->first],
	    stack->num_frames);
	do {
		slot = mu_hash_find(&records->stack_index, hash, slot);
	} while (slot->number != 0 &&
	    !same_stack(records, stack, &records->stacks[slot->number - 1]));
	if (slot->number == 0) {
		mu_hash_put(&records->stack_index, slot, hash, record->stack);
	} else {
		record->stack = slot->number - 1;
		drop_stack(records);
	}
	return true;
}

static bool
same_record(const struct mu_record *a, const struct mu_record *b)
{
	return a->stack == b->stack && a->size == b->size && a->own == b->own;
}

const struct mu_record *
mu_records_merge(struct mu_records *records)
{
	struct mu_record *record = &records->list[records->count - 1], *same;
	struct mu_hash_slot *slot = NULL;
	uint32_t hash;

	if (!share_stack(records, record) || !mu_hash_room(&records->index))
		return NULL;
	hash = mu_hash_words(&records->index,
	    (uintptr_t[]) { record->stack, record->size, record->own }, 3);
	do {
		slot = mu_hash_find(&records->index, hash, slot);
	} while (slot->number != 0 &&
	    !same_record(record, &records->list[slot->number - 1]));
	if (slot->number == 0) {
		mu_hash_put(&records->index, slot, hash, records->count - 1);
		return record;
	}
	same = &records->list[slot->number - 1];
	same->count = mu_saturated_add(same->count, record->count);
	records->count--;
	return same;
}

void
mu_records_seal(struct mu_records *records)
{
	struct mu_record *record = records->list;
	const struct mu_record_stack *stack;
	size_t i;

	for (i = 0; i < records->count; i++, record++) {
		stack = &records->stacks[record->stack];
		record->bytes = mu_saturated_mul(record->size, record->count);
		record->num_frames = (uint16_t)stack->num_frames;
		if (records->frames != NULL)
			record->frames = records->frames + stack->first;
	}
	mu_hash_release(&records->stack_index);
	mu_hash_release(&records->index);
}

void
mu_records_release(struct mu_records *records)
{
	mu_hash_release(&records->stack_index);
	mu_hash_release(&records->index);
	free(records->list);
	free(records->stacks);
	free(records->frames);
	*records = (struct mu_records) { 0 };
}

static int
compare_number(uintptr_t a, uintptr_t b)
{
	return (a > b) - (a < b);
}

int
mu_record_compare_outer(const struct mu_record *a, const struct mu_record *b)
{
	size_t i = a->num_frames, j = b->num_frames;

	if (a->frames == b->frames && i == j)
		return 0;
	for (; i > 0 && j > 0; i--, j--) {
		if (a->frames[i - 1] != b->frames[j - 1])
			return compare_number(
			    a->frames[i - 1], b->frames[j - 1]);
	}
	return compare_number(i, j);
}

int
mu_record_compare_inner(const struct mu_record *a, const struct mu_record *b)
{
	size_t i;

	for (i = 0; i < a->num_frames && i < b->num_frames; i++) {
		if (a->frames[i] != b->frames[i])
			return compare_number(a->frames[i], b->frames[i]);
	}
	return compare_number(a->num_frames, b->num_frames);
}
