#include "lib/view/diff.h"

#include <string.h>

#include "lib/view/saturate.h"
#include "lib/view/stack_key.h"

bool
mu_diff_add(struct mu_diff *diff, size_t side, const struct mu_record *record)
{
	unsigned char key[MU_SORTER_KEY_MAX], *end;

	diff->bytes[side] = mu_saturated_add(diff->bytes[side], record->bytes);
	diff->blocks[side] =
	    mu_saturated_add(diff->blocks[side], record->count);
	end = mu_stack_key_put(key, record->frames, record->num_frames, false);
	end = mu_code_put(end, record->size);
	return mu_sorter_add(&diff->records, key, (size_t)(end - key),
	    side == 0 ? record->count : 0, side == 0 ? 0 : record->count);
}

static uint64_t
difference(const uint64_t counts[2])
{
	return counts[1] > counts[0] ? counts[1] - counts[0]
				     : counts[0] - counts[1];
}

/* Keys of changes are those of the records, after the complement of bytes. */
static bool
add_change(struct mu_diff *diff, const struct mu_sorted *item)
{
	enum mu_change_kind kind =
	    item->values[1] > item->values[0] ? MU_GREW : MU_SHRANK;
	unsigned char key[MU_SORTER_KEY_MAX], *end;
	uintptr_t frames[MU_RECORD_FRAMES];
	uint64_t size, bytes;
	size_t num_frames;

	if (item->values[0] == item->values[1])
		return true;
	mu_code_take(mu_stack_key_take(item->key, frames, &num_frames), &size);
	bytes = mu_saturated_mul(difference(item->values), size);
	diff->count[kind]++;
	diff->changed[kind] = mu_saturated_add(diff->changed[kind], bytes);
	end = mu_code_put(key, ~bytes);
	memcpy(end, item->key, item->length);
	return mu_sorter_add(&diff->changes[kind], key,
	    (size_t)(end - key) + item->length, item->values[0],
	    item->values[1]);
}

enum mu_status
mu_diff_make(struct mu_diff *diff, struct mu_why *why)
{
	enum mu_status status;
	struct mu_sorted item;
	bool room = true;

	mu_sorter_begin(&diff->records);
	while (room && mu_sorter_next(&diff->records, &item))
		room = add_change(diff, &item);
	status = mu_sorter_end(&diff->records, why);
	mu_sorter_release(&diff->records);
	if (!room)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory to compare them");
	return status;
}

void
mu_diff_begin(struct mu_diff *diff, enum mu_change_kind kind)
{
	mu_sorter_begin(&diff->changes[kind]);
}

bool
mu_diff_next(
    struct mu_diff *diff, enum mu_change_kind kind, struct mu_change *change)
{
	const unsigned char *at;
	struct mu_sorted item;

	if (!mu_sorter_next(&diff->changes[kind], &item))
		return false;
	change->before = item.values[0];
	change->after = item.values[1];
	change->blocks = difference(item.values);
	at = mu_code_take(item.key, &change->bytes);
	change->bytes = ~change->bytes;
	at = mu_stack_key_take(at, change->frames, &change->num_frames);
	mu_code_take(at, &change->size);
	return true;
}

enum mu_status
mu_diff_end(const struct mu_diff *diff, struct mu_why *why)
{
	enum mu_status status = mu_sorter_end(&diff->changes[MU_GREW], why);

	return status != MU_OK ? status
			       : mu_sorter_end(&diff->changes[MU_SHRANK], why);
}

void
mu_diff_release(struct mu_diff *diff)
{
	size_t i;

	mu_sorter_release(&diff->records);
	for (i = 0; i < MU_CHANGE_KINDS; i++)
		mu_sorter_release(&diff->changes[i]);
}
