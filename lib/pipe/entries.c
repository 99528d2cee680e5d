#include "lib/pipe/entries.h"

#include <string.h>

static void
convert(struct Leak *to, const struct mu_leak *from)
{
	*to = (struct Leak) {
		.begin = from->range.begin,
		.size = mu_range_size(from->range),
		.referenced_count = from->referenced_count,
		.referenced_size = from->referenced_size,
		.similar_count = from->similar_count,
		.similar_size = from->similar_size,
		.similar_referenced_count = from->similar_referenced_count,
		.similar_referenced_size = from->similar_referenced_size,
		.total_size = from->total_size,
	};
	memcpy(to->contents, from->contents, sizeof(to->contents));
	to->backtrace.num_frames = from->num_frames;
	memcpy(
	    to->backtrace.frames, from->frames, sizeof(to->backtrace.frames));
	to->backtrace.num_more = from->num_more;
	to->backtrace.more = from->more;
	to->backtrace.cut = from->cut;
}

struct mu_entries
mu_entries_of(const struct UnreachableMemoryInfo *info)
{
	return (struct mu_entries) { .leaks = info->leaks,
		.count = info->leaks == NULL ? 0 : info->num_reported };
}

void
mu_entries_open(struct mu_entries_at *at, const struct mu_entries *entries)
{
	at->entries = *entries;
	at->number = at->group = 0;
	mu_packed_open(&at->packed, entries->packed, entries->size);
}

const struct Leak *
mu_entries_next(struct mu_entries_at *at)
{
	struct mu_leak entry;

	if (at->number < at->entries.count && at->entries.leaks != NULL)
		return &at->entries.leaks[at->number++];
	if (at->number == at->entries.count ||
	    !mu_packed_next(&at->packed, &entry)) {
		explicit_bzero(at, sizeof(*at));
		return NULL;
	}
	at->number++;
	at->group = entry.group > at->entries.num_groups ? 0 : entry.group;
	convert(&at->leak, &entry);
	explicit_bzero(&entry, sizeof(entry));
	return &at->leak;
}

void
mu_groups_open(struct mu_groups_at *at, const struct mu_entries *entries)
{
	at->left = entries->num_groups;
	mu_packed_open(&at->packed, entries->packed + entries->groups_at,
	    entries->size - entries->groups_at);
}

const struct mu_lost_group *
mu_groups_next(struct mu_groups_at *at)
{
	if (at->left == 0 || !mu_packed_next_group(&at->packed, &at->group)) {
		explicit_bzero(at, sizeof(*at));
		return NULL;
	}
	at->left--;
	convert(&at->example, &at->group.example);
	return &at->group;
}

/* True if the groups are well-formed, and nothing follows them. */
static bool
check_groups(const struct mu_entries *entries)
{
	struct mu_groups_at at;
	size_t count = 0;
	bool good;

	mu_groups_open(&at, entries);
	while (count < entries->num_groups && mu_groups_next(&at) != NULL)
		count++;
	good = count == entries->num_groups && at.packed.next == at.packed.end;
	explicit_bzero(&at, sizeof(at));
	return good;
}

bool
mu_entries_check(struct mu_entries *entries, size_t *num_more)
{
	struct mu_packed_at at;
	struct mu_leak entry;
	size_t count = 0;

	*num_more = 0;
	mu_packed_open(&at, entries->packed, entries->size);
	for (; count < entries->count && mu_packed_next(&at, &entry); count++)
		*num_more += entry.num_more;
	entries->groups_at = (size_t)(at.next - entries->packed);
	count = at.damaged ? SIZE_MAX : count;
	explicit_bzero(&at, sizeof(at));
	explicit_bzero(&entry, sizeof(entry));
	return count == entries->count && check_groups(entries);
}

void
mu_entries_unpack(const struct mu_entries *entries, struct Leak *leaks)
{
	uintptr_t *more = (uintptr_t *)(leaks + entries->count);
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, entries);
	for (; (leak = mu_entries_next(&at)) != NULL; leaks++) {
		*leaks = *leak;
		if (leak->backtrace.num_more == 0)
			continue;
		leaks->backtrace.more = memcpy(more, leak->backtrace.more,
		    leak->backtrace.num_more * sizeof(*more));
		more += leak->backtrace.num_more;
	}
}
