#include "lib/pipe/leak_pipe.h"

#include <string.h>

static bool
send_entries(int fd, const struct mu_packed *entries)
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
	    mu_pipe_header(MU_PIPE_LEAKS, status, why, heap);

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
	    (header.entries_size == 0 || send_entries(fd, &leaks->entries));
}

bool
mu_leak_pipe_check(const struct mu_pipe_header *header, size_t limit)
{
	return mu_pipe_check(header, MU_PIPE_LEAKS) &&
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

/*
 * Receive the entries into memory of RESULTS, and check them before they are
 * used.
 */
static enum mu_status
receive_entries(struct mu_image *image, struct mu_results *results,
    struct mu_result *result, const struct mu_pipe_header *header)
{
	struct mu_entries *entries = &result->entries;
	enum mu_status status;

	*entries = (struct mu_entries) { .size = header->entries_size,
		.count = header->num_entries,
		.num_groups = header->groups.count };
	if (entries->size == 0)
		return MU_OK;
	entries->packed = mu_results_new_bytes(results, entries->size);
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

	status = mu_pipe_read(
	    &image->sweeper, &header, sizeof(header), &image->job.why);
	if (status != MU_OK)
		return status;
	status = mu_pipe_take(&header,
	    mu_leak_pipe_check(&header, image->query.limit), result,
	    &image->job.why);
	if (!mu_status_usable(status))
		return status;
	status = receive_entries(image, results, result, &header);
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
