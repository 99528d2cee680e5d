/*
 * The key of a block is its stack, the complement of its number in the file,
 * and its time; that of a group are the complements of its bytes and blocks,
 * and the number, stack and time of its last block.
 */
#include "lib/view/leak_groups.h"

#include <string.h>

#include "lib/view/saturate.h"
#include "lib/view/stack_key.h"

/* The end of KEY: a time without a terminator. */
static unsigned char *
put_time(unsigned char *end, const char *time)
{
	return mempcpy(end, time, strlen(time));
}

static void
take_time(struct mu_record *record, const struct mu_sorted *item,
    const unsigned char *at)
{
	size_t length = (size_t)(item->key + item->length - at);

	memcpy(record->time, at, length);
	record->time[length] = '\0';
}

bool
mu_leak_groups_add(
    struct mu_leak_groups *groups, const struct mu_record *record)
{
	unsigned char key[MU_SORTER_KEY_MAX], *end;

	end = mu_stack_key_put(key, record->frames, record->num_frames, false);
	end = put_time(mu_code_put(end, ~record->number), record->time);
	return mu_sorter_add(
	    &groups->leaks, key, (size_t)(end - key), record->bytes, 1);
}

static bool
add_group(struct mu_leak_groups *groups, const struct mu_record *group)
{
	unsigned char key[MU_SORTER_KEY_MAX], *end;

	groups->count++;
	groups->bytes = mu_saturated_add(groups->bytes, group->bytes);
	groups->blocks = mu_saturated_add(groups->blocks, group->count);
	end = mu_code_put(key, ~group->bytes);
	end = mu_code_put(end, ~group->count);
	end = mu_code_put(end, group->number);
	end = mu_stack_key_put(end, group->frames, group->num_frames, false);
	end = put_time(end, group->time);
	return mu_sorter_add(&groups->sorted, key, (size_t)(end - key),
	    group->bytes, group->count);
}

static bool
same_stack(const struct mu_record *a, const struct mu_record *b)
{
	return a->num_frames == b->num_frames &&
	    memcmp(a->frames, b->frames, a->num_frames * sizeof(*a->frames)) ==
	    0;
}

static bool
next_leak(struct mu_leak_groups *groups, struct mu_record *leak)
{
	const unsigned char *at;
	struct mu_sorted item;
	uint64_t number;

	if (!mu_sorter_next(&groups->leaks, &item))
		return false;
	at = mu_stack_key_take(item.key, leak->frames, &leak->num_frames);
	at = mu_code_take(at, &number);
	leak->number = ~number;
	leak->bytes = item.values[0];
	leak->count = item.values[1];
	take_time(leak, &item, at);
	return true;
}

enum mu_status
mu_leak_groups_make(struct mu_leak_groups *groups, struct mu_why *why)
{
	struct mu_record leak, group = { 0 };
	enum mu_status status;
	bool room = true;

	mu_sorter_begin(&groups->leaks);
	while (room && next_leak(groups, &leak)) {
		if (group.count > 0 && same_stack(&group, &leak)) {
			group.bytes = mu_saturated_add(group.bytes, leak.bytes);
			group.count++;
			continue;
		}
		room = group.count == 0 || add_group(groups, &group);
		group = leak;
	}
	if (room && group.count > 0)
		room = add_group(groups, &group);
	status = mu_sorter_end(&groups->leaks, why);
	mu_sorter_release(&groups->leaks);
	if (!room)
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for stacks");
	return status;
}

bool
mu_leak_groups_next(struct mu_leak_groups *groups, struct mu_record *group)
{
	const unsigned char *at;
	struct mu_sorted item;
	uint64_t bytes, count, number;

	if (!mu_sorter_next(&groups->sorted, &item))
		return false;
	at = mu_code_take(item.key, &bytes);
	at = mu_code_take(mu_code_take(at, &count), &number);
	at = mu_stack_key_take(at, group->frames, &group->num_frames);
	take_time(group, &item, at);
	group->number = number;
	group->bytes = ~bytes;
	group->count = ~count;
	return true;
}

void
mu_leak_groups_release(struct mu_leak_groups *groups)
{
	mu_sorter_release(&groups->leaks);
	mu_sorter_release(&groups->sorted);
}
