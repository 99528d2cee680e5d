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
	at->number = 0;
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
	convert(&at->leak, &entry);
	explicit_bzero(&entry, sizeof(entry));
	return &at->leak;
}

bool
mu_entries_check(const struct mu_entries *entries, size_t *num_more)
{
	struct mu_packed_at at;
	struct mu_leak entry;
	size_t count = 0;

	*num_more = 0;
	mu_packed_open(&at, entries->packed, entries->size);
	for (; mu_packed_next(&at, &entry); count++)
		*num_more += entry.num_more;
	count = at.damaged ? SIZE_MAX : count;
	explicit_bzero(&at, sizeof(at));
	explicit_bzero(&entry, sizeof(entry));
	return count == entries->count;
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
