#include "lib/view/diff.h"

#include <stdlib.h>

#include "lib/view/saturate.h"

/* A record, and the dump it belongs to. */
struct entry {
	const struct mu_record *record;
	size_t side;
};

/* By stack and size, so that matching records are adjacent. */
static int
compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = mu_record_compare_inner(x->record, y->record);

	if (order != 0)
		return order;
	return (x->record->size > y->record->size) -
	    (x->record->size < y->record->size);
}

static int
compare_changes(const void *a, const void *b)
{
	const struct mu_change *x = a, *y = b;
	int order;

	if (x->grew != y->grew)
		return x->grew ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	order = mu_record_compare_inner(x->record, y->record);
	if (order != 0)
		return order;
	return (x->record->size > y->record->size) -
	    (x->record->size < y->record->size);
}

static size_t
add_entries(struct mu_diff *diff, struct entry *entries,
    const struct mu_records *records, size_t side)
{
	const struct mu_record *record = records->list;
	size_t i;

	for (i = 0; i < records->count; i++, record++) {
		entries[i] = (struct entry) { record, side };
		diff->bytes[side] =
		    mu_saturated_add(diff->bytes[side], record->bytes);
		diff->blocks[side] =
		    mu_saturated_add(diff->blocks[side], record->count);
	}
	return records->count;
}

static void
add_change(struct mu_diff *diff, const struct mu_record *record,
    const uint64_t *counts)
{
	struct mu_change *change = &diff->changes[diff->count];
	bool grew = counts[1] > counts[0];
	uint64_t blocks = grew ? counts[1] - counts[0] : counts[0] - counts[1];

	if (blocks == 0)
		return;
	*change = (struct mu_change) {
		.record = record,
		.before = counts[0],
		.after = counts[1],
		.grew = grew,
		.bytes = mu_saturated_mul(blocks, record->size),
	};
	diff->count++;
	diff->num_grew += grew;
	if (grew)
		diff->grown = mu_saturated_add(diff->grown, change->bytes);
	else
		diff->shrunk = mu_saturated_add(diff->shrunk, change->bytes);
}

static void
match(struct mu_diff *diff, const struct entry *entries, size_t count)
{
	uint64_t counts[2];
	size_t i, j;

	for (i = 0; i < count; i = j) {
		counts[0] = counts[1] = 0;
		for (j = i; j < count &&
		     compare_entries(&entries[i], &entries[j]) == 0;
		     j++)
			counts[entries[j].side] = mu_saturated_add(
			    counts[entries[j].side], entries[j].record->count);
		add_change(diff, entries[i].record, counts);
	}
}

bool
mu_diff_make(struct mu_diff *diff, const struct mu_records *before,
    const struct mu_records *after)
{
	size_t count = before->count + after->count;
	struct entry *entries = calloc(count + 1, sizeof(*entries));

	*diff = (struct mu_diff) { 0 };
	diff->changes = calloc(count + 1, sizeof(*diff->changes));
	if (entries == NULL || diff->changes == NULL) {
		free(entries);
		mu_diff_release(diff);
		return false;
	}
	count = add_entries(diff, entries, before, 0);
	count += add_entries(diff, entries + count, after, 1);
	qsort(entries, count, sizeof(*entries), compare_entries);
	match(diff, entries, count);
	qsort(diff->changes, diff->count, sizeof(*diff->changes),
	    compare_changes);
	free(entries);
	return true;
}

void
mu_diff_release(struct mu_diff *diff)
{
	free(diff->changes);
	*diff = (struct mu_diff) { 0 };
}
