/*
 * Leaks as bytes: see leak_pipe.h.
 *
 * Uses no malloc, no errno, no libc lock.
 */
#include "lib/leak_pipe.h"

#include <string.h>

#include "lib/backtrace.h"
#include "lib/pipe.h"
#include "mu/recorded.h"

#define AT_A_TIME 64 /* entries that are written together: 15 KiB */

void
mu_leak_pack(struct Leak *to, const struct mu_leak *from)
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

static bool
send_entries(int fd, const struct mu_leak *entries, size_t count)
{
	struct Leak leaks[AT_A_TIME];
	size_t i, num_packed = 0;

	for (i = 0; i < count; i++) {
		mu_leak_pack(&leaks[num_packed++], &entries[i]);
		if (num_packed < AT_A_TIME && i + 1 < count)
			continue;
		if (!mu_pipe_write(fd, leaks, num_packed * sizeof(*leaks)))
			return false;
		num_packed = 0;
	}
	for (i = 0; i < count; i++)
		if (entries[i].num_more > 0 &&
		    !mu_pipe_write(fd, entries[i].more,
			entries[i].num_more * sizeof(*entries[i].more)))
			return false;
	return true;
}

static size_t
count_more(const struct mu_leaks *leaks)
{
	size_t i, num = 0;

	for (i = 0; i < leaks->num_entries; i++)
		num += leaks->entries[i].num_more;
	return num;
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
	struct mu_pipe_header header = {
		.magic = MU_PIPE_MAGIC,
		.version = MU_PIPE_VERSION,
		.header_size = sizeof(header),
		.entry_size = sizeof(struct Leak),
		.status = status,
	};

	if (status != MU_OK)
		memcpy(header.why, why->words, sizeof(header.why));
	if (status == MU_OK || status == MU_PARTIAL) {
		header.transient = heap->transient;
		header.num_allocations = heap->blocks.count;
		header.allocation_bytes = heap->blocks.bytes;
		header.num_leaks = leaks->num_leaks;
		header.leak_bytes = leaks->leak_bytes;
		header.num_entries = leaks->num_entries;
		header.num_more = count_more(leaks);
		pack_usage(&header.usage, &heap->usage);
		header.sample_bytes = leaks->sample_bytes;
		header.num_total = leaks->num_total;
		header.unreported_count = leaks->unreported_count;
		header.unreported_bytes = leaks->unreported_bytes;
		header.unrecorded_least = leaks->unrecorded_least;
		header.unrecorded_most = leaks->unrecorded_most;
	}
	return mu_pipe_write(fd, &header, sizeof(header)) &&
	    send_entries(fd, leaks->entries, header.num_entries);
}

bool
mu_leak_pipe_check(const struct mu_pipe_header *header, size_t limit)
{
	bool judged = header->status == MU_OK || header->status == MU_PARTIAL;

	return header->magic == MU_PIPE_MAGIC &&
	    header->version == MU_PIPE_VERSION &&
	    header->header_size == sizeof(*header) &&
	    header->entry_size == sizeof(struct Leak) &&
	    header->status < MU_STATUS_COUNT && header->num_entries <= limit &&
	    header->num_entries <= header->num_total &&
	    header->num_more / MU_STACK_MAX_FRAMES +
		(header->num_more % MU_STACK_MAX_FRAMES != 0) <=
	    header->num_entries &&
	    header->num_total <= header->num_leaks &&
	    header->unreported_count <= header->num_leaks &&
	    header->unreported_bytes <= header->leak_bytes &&
	    header->num_leaks <= header->num_allocations &&
	    header->leak_bytes <= header->allocation_bytes &&
	    (judged || header->num_allocations == 0) &&
	    header->usage.all.arenas == NULL &&
	    header->usage.all.num_arenas <= MU_PIPE_ARENAS &&
	    memchr(header->why, '\0', sizeof(header->why)) != NULL;
}

enum mu_status
mu_leak_pipe_receive(struct mu_pass *pass, struct mu_results *results,
    struct UnreachableMemoryInfo *info)
{
	struct mu_pipe_header header = { 0 };
	enum mu_status status;
	struct Leak *leaks;

	status = mu_pipe_read(pass, &header, sizeof(header));
	if (status != MU_OK)
		return status;
	if (!mu_leak_pipe_check(&header, pass->request->limit))
		return mu_why(&pass->why, MU_ERR_HELPER_DIED,
		    "the sweeper's answer is damaged");
	memcpy(pass->why.words, header.why, sizeof(pass->why.words));
	if (header.status != MU_OK && header.status != MU_PARTIAL)
		return header.status;
	leaks = mu_results_new(results, header.num_entries, header.num_more);
	if (leaks == NULL && header.num_entries > 0)
		return mu_why(&pass->why, MU_ERR_NO_MEMORY,
		    "no memory for %zu leaks", (size_t)header.num_entries);
	status = mu_pipe_read(pass, leaks,
	    header.num_entries * sizeof(*leaks) +
		header.num_more * sizeof(uintptr_t));
	if (status == MU_OK &&
	    !mu_backtrace_attach(leaks, header.num_entries,
		(const uintptr_t *)(leaks + header.num_entries),
		header.num_more))
		status = mu_why(&pass->why, MU_ERR_HELPER_DIED,
		    "the sweeper's answer is damaged");
	if (status != MU_OK) {
		if (leaks != NULL)
			mu_results_free(results, leaks);
		return status;
	}
	if (pass->request->usage != NULL) {
		*pass->request->usage = header.usage;
		pass->request->usage->glibc_major = pass->self.glibc_major;
		pass->request->usage->glibc_minor = pass->self.glibc_minor;
	}
	info->leaks = leaks;
	info->num_reported = header.num_entries;
	pass->transient = header.transient != 0;
	info->num_leaks = header.num_leaks;
	info->leak_bytes = header.leak_bytes;
	info->num_allocations = header.num_allocations;
	info->allocation_bytes = header.allocation_bytes;
	info->num_entries = header.num_total;
	info->sample_bytes = header.sample_bytes;
	info->unreported_leaks = header.unreported_count;
	info->unreported_bytes = header.unreported_bytes;
	info->unrecorded_min = header.unrecorded_least;
	info->unrecorded_max = header.unrecorded_most;
	return header.status;
}
