#include "lib/view/records.h"

#include <stdlib.h>
#include <string.h>

#include "lib/view/saturate.h"
#include "mu/array.h"

struct mu_record *
mu_records_add(struct mu_records *records)
{
	struct mu_record *record;

	if (!mu_array_room(
		records->list, records->count, records->max, 128, SIZE_MAX))
		return NULL;
	record = &records->list[records->count++];
	*record = (struct mu_record) {
		.count = 1,
		.first = records->num_frames,
	};
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
	record->num_frames++;
	return true;
}

void
mu_records_drop(struct mu_records *records)
{
	const struct mu_record *record = &records->list[--records->count];

	records->num_cut -= record->cut;
	records->num_frames = record->first;
}

void
mu_records_seal(struct mu_records *records)
{
	struct mu_record *record = records->list;
	size_t i;

	for (i = 0; i < records->count; i++, record++) {
		record->bytes = mu_saturated_mul(record->size, record->count);
		if (records->frames != NULL)
			record->frames = records->frames + record->first;
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
mu_record_compare_inner(const struct mu_record *a, const struct mu_record *b)
{
	size_t i;

	for (i = 0; i < a->num_frames && i < b->num_frames; i++) {
		if (a->frames[i] != b->frames[i])
			return compare_number(a->frames[i], b->frames[i]);
	}
	return compare_number(a->num_frames, b->num_frames);
}
