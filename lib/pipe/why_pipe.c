#include "lib/pipe/why_pipe.h"

#include <string.h>

#include "lib/state/library.h"
#include "mu/arch/register_names.h"
#include "mu/sys.h"

_Static_assert((int)MU_REFERRER_GLOBAL == MEMUNREACHABLE_REFERENCE_GLOBAL &&
	(int)MU_REFERRER_STACK == MEMUNREACHABLE_REFERENCE_STACK &&
	(int)MU_REFERRER_CALLER == MEMUNREACHABLE_REFERENCE_CALLER &&
	(int)MU_REFERRER_REGISTER == MEMUNREACHABLE_REFERENCE_REGISTER &&
	(int)MU_REFERRER_TLS == MEMUNREACHABLE_REFERENCE_TLS &&
	(int)MU_REFERRER_MAPPING == MEMUNREACHABLE_REFERENCE_MAPPING &&
	(int)MU_REFERRER_REGION == MEMUNREACHABLE_REFERENCE_ROOT_REGION &&
	(int)MU_REFERRER_VALUE == MEMUNREACHABLE_REFERENCE_ROOT_VALUE &&
	(int)MU_REFERRER_KERNEL == MEMUNREACHABLE_REFERENCE_KERNEL &&
	(int)MU_REFERRER_BLOCK == MEMUNREACHABLE_REFERENCE_BLOCK &&
	MU_MAX_REFERRERS == MEMUNREACHABLE_MAX_REFERENCES,
    "a reference is the same on both sides");

#define NO_NAME SIZE_MAX

void
mu_references_drop(struct mu_references *references)
{
	if (references->items != NULL)
		mu_results_free(&mu_library.results, references->items);
	*references = (struct mu_references) { .hidden = references->hidden };
}

bool
mu_why_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_referrers *referrers)
{
	struct mu_pipe_header header =
	    mu_pipe_header(MU_PIPE_REFERENCES, status, why, heap);

	if (mu_status_usable(status)) {
		header.num_total = referrers->total;
		header.num_entries = referrers->count;
		header.entries_size =
		    referrers->count * sizeof(*referrers->items);
	}
	return mu_pipe_write(fd, &header, sizeof(header)) &&
	    mu_pipe_write(fd, referrers->items, header.entries_size);
}

bool
mu_why_pipe_check(const struct mu_pipe_header *header)
{
	return mu_pipe_check(header, MU_PIPE_REFERENCES) &&
	    header->num_entries <= MU_MAX_REFERRERS &&
	    header->entries_size ==
	    header->num_entries * sizeof(struct mu_referrer) &&
	    header->num_total <= PTRDIFF_MAX;
}

/* True if a sweeper can have sent ENTRY for the threads and mappings of SNAP.
 */
static bool
check_entry(const struct mu_referrer *entry, const struct mu_snapshot *snap)
{
	return entry->kind >= MU_REFERRER_GLOBAL &&
	    entry->kind < MU_REFERRER_KINDS && entry->reachable <= 1 &&
	    (entry->thread < snap->num_threads ||
		entry->thread == MU_NO_INDEX) &&
	    (entry->mapping < snap->num_mappings ||
		entry->mapping == MU_NO_INDEX) &&
	    entry->regno <= MU_REGNO_END;
}

static enum mu_status
no_memory(struct mu_image *image, size_t count)
{
	return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
	    "no memory for %zu references", count);
}

/*
 * Receive entries into memory of the pass: on a stack the words would remain.
 */
static enum mu_status
receive_entries(
    struct mu_image *image, struct mu_referrer **entries, size_t count)
{
	enum mu_status status;
	size_t i;

	*entries = mu_arena_alloc(&image->job.arena, count, sizeof(**entries));
	if (*entries == NULL)
		return no_memory(image, count);
	status = mu_pipe_read(&image->sweeper, *entries,
	    count * sizeof(**entries), &image->job.why);
	for (i = 0; i < count && status == MU_OK; i++)
		if (!check_entry(&(*entries)[i], &image->snap))
			status = mu_pipe_damaged(&image->job.why);
	return status;
}

/*
 * The position of each mapping's name after the entries, or NO_NAME; *SIZE
 * becomes the size of all names. NULL if memory is exhausted.
 */
static size_t *
place_names(struct mu_image *image, const struct mu_referrer *entries,
    size_t count, size_t *size)
{
	const struct mu_snapshot *snap = &image->snap;
	size_t *places, i, mapping;

	places = mu_arena_alloc(
	    &image->job.arena, snap->num_mappings + 1, sizeof(*places));
	if (places == NULL)
		return NULL;
	for (i = 0; i < snap->num_mappings; i++)
		places[i] = NO_NAME;
	*size = 1; /* "" */
	for (i = 0; i < count; i++) {
		mapping = entries[i].mapping;
		if (mapping == MU_NO_INDEX || places[mapping] != NO_NAME)
			continue;
		places[mapping] = *size;
		*size += strlen(snap->mappings[mapping].name) + 1;
	}
	return places;
}

static void
unpack(struct MemunreachableReference *to, const struct mu_referrer *from,
    const struct mu_snapshot *snap, const char *name)
{
	struct mu_text text = { to->name, sizeof(to->name), 0 };

	to->kind = (int)from->kind;
	if (from->thread != MU_NO_INDEX)
		to->thread = (int)snap->threads[from->thread].tid;
	to->address = from->address;
	to->value = from->value;
	to->into = (ptrdiff_t)from->into;
	if (from->address != 0)
		to->offset = (ptrdiff_t)(from->address - from->base);
	to->begin = from->begin;
	to->size = from->size;
	to->reachable = from->reachable != 0;
	if (from->kind == MU_REFERRER_REGISTER)
		mu_register_name(&text, from->regno);
	to->path = name;
}

static enum mu_status
unpack_all(struct mu_image *image, struct mu_references *references,
    const struct mu_referrer *entries, size_t count)
{
	const struct mu_snapshot *snap = &image->snap;
	size_t size = 0, *places = place_names(image, entries, count, &size), i;
	size_t length = count * sizeof(*references->items);
	const char *name;
	char *names;

	if (places == NULL)
		return no_memory(image, count);
	references->items =
	    mu_results_new_bytes(&mu_library.results, length + size);
	if (references->items == NULL)
		return no_memory(image, count);
	references->count = count;
	names = (char *)(references->items + count);
	for (i = 0; i < snap->num_mappings; i++) {
		name = snap->mappings[i].name;
		if (places[i] != NO_NAME)
			memcpy(names + places[i], name, strlen(name) + 1);
	}
	for (i = 0; i < count; i++)
		unpack(&references->items[i], &entries[i], snap,
		    entries[i].mapping == MU_NO_INDEX
			? names
			: names + places[entries[i].mapping]);
	return MU_OK;
}

enum mu_status
mu_why_pipe_receive(struct mu_image *image, struct mu_references *references,
    struct mu_result *result, struct UnreachableMemoryInfo *info)
{
	struct mu_pipe_header header = { 0 };
	struct mu_referrer *entries;
	enum mu_status status;

	status = mu_pipe_read(
	    &image->sweeper, &header, sizeof(header), &image->job.why);
	if (status != MU_OK)
		return status;
	status = mu_pipe_take(
	    &header, mu_why_pipe_check(&header), result, &image->job.why);
	if (!mu_status_usable(status))
		return status;
	info->num_allocations = header.num_allocations;
	info->allocation_bytes = header.allocation_bytes;
	references->total = header.num_total;
	if (header.num_entries == 0)
		return header.status;
	status = receive_entries(image, &entries, header.num_entries);
	if (status == MU_OK)
		status =
		    unpack_all(image, references, entries, header.num_entries);
	return status == MU_OK ? header.status : status;
}
