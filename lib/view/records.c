/*
 * Records: see records.h.
 *
 * Runs in: the command. Pure.
 */
#include "lib/view/records.h"

#include <stdlib.h>

#include "lib/view/grow.h"
#include "lib/view/saturate.h"

struct mu_record *
mu_records_add(struct mu_records *records)
{
	struct mu_record *record;

	if (!mu_grow(&records->list, records->count, &records->max))
		return NULL;
	record = &records->list[records->count++];
	*record = (struct mu_record) { .count = 1 };
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
	if (!mu_grow(
		&records->frames, records->num_frames, &records->max_frames))
		return false;
	records->frames[records->num_frames++] = pc;
	record->num_frames++;
	return true;
}

void
mu_records_drop(struct mu_records *records)
{
	const struct mu_record *last = &records->list[--records->count];

	records->num_frames -= last->num_frames;
	records->num_cut -= last->cut;
}

void
mu_records_seal(struct mu_records *records)
{
	uintptr_t *frames = records->frames;
	struct mu_record *record = records->list;
	size_t i;

	for (i = 0; i < records->count; i++, record++) {
		record->frames = frames;
		record->bytes = mu_saturated_mul(record->size, record->count);
		if (frames != NULL)
			frames += record->num_frames;
	}
}

void
mu_records_release(struct mu_records *records)
{
	free(records->list);
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
