#include "lib/pipe/answer.h"

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

/*
 * The header of an answer without entries. WHY and HEAP are used only with a
 * STATUS for which they are valid.
 */
static struct mu_pipe_header
make_header(enum mu_pipe_kind kind, enum mu_status status,
    const struct mu_why *why, const struct mu_heap *heap)
{
	struct mu_pipe_header header = {
		.magic = MU_PIPE_MAGIC,
		.version = MU_PIPE_VERSION,
		.header_size = sizeof(header),
		.kind = kind,
		.status = status,
	};

	if (status != MU_OK)
		header.why = *why;
	if (mu_status_usable(status)) {
		header.transient = heap->transient;
		header.num_allocations = heap->blocks.count;
		header.allocation_bytes = heap->blocks.bytes;
	}
	return header;
}

/* Without the sizes of the entries and what only leaks have. */
static bool
check_header(const struct mu_pipe_header *header, enum mu_pipe_kind kind)
{
	bool checked = mu_status_usable(header->status);

	return header->magic == MU_PIPE_MAGIC &&
	    header->version == MU_PIPE_VERSION &&
	    header->header_size == sizeof(*header) && header->kind == kind &&
	    header->status < MU_STATUS_COUNT &&
	    header->num_entries <= header->num_total &&
	    (checked ||
		(header->num_allocations == 0 && header->num_total == 0)) &&
	    mu_why_check(&header->why);
}

static bool
send_packed(int fd, const struct mu_packed *entries)
{
	const struct mu_packed_piece *piece;

	for (piece = entries->first; piece != NULL; piece = piece->next)
		if (!mu_pipe_write(fd, piece->bytes, piece->used))
			return false;
	return true;
}

static void
pack_usage(struct mu_pipe_usage *to, const struct mu_heap_usage *from)
{
	const struct mu_arena_usage *arena;
	struct mu_arena_usage *sum;
	size_t i;

	to->all = *from;
	to->all.arenas = NULL;
	for (i = 0; i < from->num_arenas; i++) {
		arena = &from->arenas[i];
		if (i < MU_PIPE_ARENAS) {
			to->arenas[i] = *arena;
			continue;
		}
		sum = &to->arenas[MU_PIPE_ARENAS - 1];
		sum->span += arena->span;
		sum->live += arena->live;
		sum->bins += arena->bins;
		sum->fastbins += arena->fastbins;
		sum->tcache += arena->tcache;
		sum->top += arena->top;
		sum->overhead += arena->overhead;
	}
	if (to->all.num_arenas > MU_PIPE_ARENAS)
		to->all.num_arenas = MU_PIPE_ARENAS;
}

bool
mu_leak_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_leaks *leaks)
{
	struct mu_pipe_header header =
	    make_header(MU_PIPE_LEAKS, status, why, heap);

	if (mu_status_usable(status)) {
		header.num_leaks = leaks->num_leaks;
		header.leak_bytes = leaks->leak_bytes;
		header.num_entries = leaks->entries.count;
		header.entries_size = leaks->entries.size;
		pack_usage(&header.usage, &heap->usage);
		header.sample_bytes = leaks->sample_bytes;
		header.num_total = leaks->num_total;
		header.unreported_count = leaks->unreported_count;
		header.unreported_bytes = leaks->unreported_bytes;
		header.unrecorded_least = leaks->unrecorded_least;
		header.unrecorded_most = leaks->unrecorded_most;
		header.groups = leaks->groups;
	}
	return mu_pipe_write(fd, &header, sizeof(header)) &&
	    (header.entries_size == 0 || send_packed(fd, &leaks->entries));
}

bool
mu_leak_pipe_check(const struct mu_pipe_header *header, size_t limit)
{
	return check_header(header, MU_PIPE_LEAKS) &&
	    header->num_entries <= limit && header->groups.count <= limit &&
	    mu_packed_fits(&header->groups, header->num_entries,
		header->entries_size, header->num_leaks, header->leak_bytes) &&
	    header->num_total <= header->num_leaks &&
	    header->unreported_count <= header->num_leaks &&
	    header->unreported_bytes <= header->leak_bytes &&
	    header->num_leaks <= header->num_allocations &&
	    header->leak_bytes <= header->allocation_bytes &&
	    header->usage.all.arenas == NULL &&
	    header->usage.all.num_arenas <= MU_PIPE_ARENAS;
}

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
	    make_header(MU_PIPE_REFERENCES, status, why, heap);

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
	return check_header(header, MU_PIPE_REFERENCES) &&
	    header->num_entries <= MU_MAX_REFERRERS &&
	    header->entries_size ==
	    header->num_entries * sizeof(struct mu_referrer) &&
	    header->num_total <= PTRDIFF_MAX;
}

/* Receive and check the header; its status and reason. */
static enum mu_status
receive_header(struct mu_image *image, enum mu_pipe_kind kind,
    struct mu_pipe_header *header, struct mu_result *result)
{
	enum mu_status status = mu_pipe_read(
	    &image->sweeper, header, sizeof(*header), &image->job.why);

	if (status != MU_OK)
		return status;
	if (kind == MU_PIPE_LEAKS
		? !mu_leak_pipe_check(header, image->query.limit)
		: !mu_why_pipe_check(header))
		return mu_pipe_damaged(&image->job.why);
	image->job.why = header->why;
	if (!mu_status_usable(header->status))
		return header->status;
	result->transient = header->transient != 0;
	return header->status;
}

/* In memory of RESULTS; NULL: of the pass. */
static unsigned char *
make_room(struct mu_image *image, struct mu_results *results, size_t size)
{
	return results != NULL ? mu_results_new_bytes(results, size)
			       : mu_arena_alloc(&image->job.arena, size, 1);
}

/* Receive the entries, and check them before they are used. */
static enum mu_status
receive_packed(struct mu_image *image, struct mu_results *results,
    struct mu_result *result, const struct mu_pipe_header *header)
{
	struct mu_entries *entries = &result->entries;
	enum mu_status status;

	*entries = (struct mu_entries) { .size = header->entries_size,
		.count = header->num_entries,
		.num_groups = header->groups.count };
	if (entries->size == 0)
		return MU_OK;
	entries->packed = make_room(image, results, entries->size);
	if (entries->packed == NULL)
		status = mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for %zu leaks", entries->count);
	else
		status = mu_pipe_read(&image->sweeper, entries->packed,
		    entries->size, &image->job.why);
	if (status == MU_OK && !mu_entries_check(entries, &result->num_more))
		status = mu_pipe_damaged(&image->job.why);
	if (status != MU_OK)
		mu_results_drop(results, entries);
	return status;
}

enum mu_status
mu_leak_pipe_receive(struct mu_image *image, struct mu_results *results,
    struct mu_result *result, struct UnreachableMemoryInfo *info)
{
	struct mu_pipe_header header = { 0 };
	enum mu_status status;

	status = receive_header(image, MU_PIPE_LEAKS, &header, result);
	if (!mu_status_usable(status))
		return status;
	status = receive_packed(image, results, result, &header);
	if (status != MU_OK)
		return status;
	result->groups = header.groups;
	result->usage = header.usage;
	result->usage.glibc_major = image->stop.self.glibc_major;
	result->usage.glibc_minor = image->stop.self.glibc_minor;
	info->num_reported = header.num_entries;
	info->num_allocations = header.num_allocations;
	info->allocation_bytes = header.allocation_bytes;
	info->num_leaks = header.num_leaks;
	info->leak_bytes = header.leak_bytes;
	info->num_entries = header.num_total;
	info->sample_bytes = header.sample_bytes;
	info->unreported_leaks = header.unreported_count;
	info->unreported_bytes = header.unreported_bytes;
	info->unrecorded_min = header.unrecorded_least;
	info->unrecorded_max = header.unrecorded_most;
	return header.status;
}

/* True if a sweeper can have sent ENTRY for the threads and mappings of SNAP.
 */
static bool
check_referrer(const struct mu_referrer *entry, const struct mu_snapshot *snap)
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
receive_referrers(
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
		if (!check_referrer(&(*entries)[i], &image->snap))
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
unpack_one(struct MemunreachableReference *to, const struct mu_referrer *from,
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
		unpack_one(&references->items[i], &entries[i], snap,
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

	status = receive_header(image, MU_PIPE_REFERENCES, &header, result);
	if (!mu_status_usable(status))
		return status;
	info->num_allocations = header.num_allocations;
	info->allocation_bytes = header.allocation_bytes;
	references->total = header.num_total;
	if (header.num_entries == 0)
		return header.status;
	status = receive_referrers(image, &entries, header.num_entries);
	if (status == MU_OK)
		status =
		    unpack_all(image, references, entries, header.num_entries);
	return status == MU_OK ? header.status : status;
}
