#include "heapwalk/memory/remote_group.h"

#include "mu/bisect.h"
#include "mu/sys.h"

struct mu_remote_group *
mu_remote_group(const struct mu_remote_memory *remote, uintptr_t address)
{
	size_t low = 0;

	mu_bisect(
	    low, remote->num_groups, i, remote->groups[i].range.end <= address);
	return low == remote->num_groups ? NULL : &remote->groups[low];
}

const struct mu_mapping *
mu_remote_mapping(const struct mu_remote_memory *remote, uintptr_t address)
{
	return mu_mapping_from(remote->mappings, remote->num_mappings, address);
}

const struct mu_remote_part *
mu_remote_part(const struct mu_remote_source *source, uintptr_t address)
{
	size_t low = 0;

	mu_bisect(
	    low, source->num_parts, i, source->parts[i].range.end <= address);
	return &source->parts[low];
}

const struct mu_remote_file *
mu_remote_file(const struct mu_remote_memory *remote, uintptr_t address)
{
	size_t low = 0;

	mu_bisect(
	    low, remote->num_files, i, remote->files[i].range.end <= address);
	return low == remote->num_files ? NULL : &remote->files[low];
}

/* The first page from PAGE up to END whose bit is VALUE; END if none. */
static size_t
next_page(const uint64_t *bits, size_t page, size_t end, bool value)
{
	uint64_t word;

	while (page < end) {
		word = value ? bits[page / 64] : ~bits[page / 64];
		word >>= page % 64;
		if (word != 0) {
			page += (size_t)__builtin_ctzll(word);
			return page < end ? page : end;
		}
		page += 64 - page % 64;
	}
	return end;
}

bool
mu_remote_run(const struct mu_remote_memory *remote,
    const struct mu_remote_group *group, enum mu_remote_pages kind,
    struct mu_range range, struct mu_range *part)
{
	bool written = kind == MU_REMOTE_WRITTEN;
	size_t size = remote->page_size, first, stop, end;
	uintptr_t begin = group->range.begin;

	end = (range.end - begin + size - 1) / size;
	first = next_page(
	    group->written, (range.begin - begin) / size, end, written);
	if (first == end)
		return false;
	stop = next_page(group->written, first, end, !written);
	*part = range;
	if (begin + first * size > part->begin)
		part->begin = begin + first * size;
	if (begin + stop * size < part->end)
		part->end = begin + stop * size;
	return true;
}

static bool
open_tables(struct mu_remote_group *group, size_t page_size, bool closed,
    struct mu_arena *arena)
{
	size_t pages = mu_range_size(group->range) / page_size / 64 + 1;
	size_t units = mu_range_size(group->range) / MU_REMOTE_UNIT / 64 + 1;
	size_t i;

	group->written = mu_arena_alloc(arena, pages, sizeof(uint64_t));
	group->unread = mu_arena_alloc(arena, pages, sizeof(uint64_t));
	if (closed) {
		group->there = mu_arena_alloc(arena, pages, sizeof(uint64_t));
		group->taken = mu_arena_alloc(arena, pages, sizeof(uint64_t));
	}
	for (i = 0; i < MU_REMOTE_KINDS && !closed; i++)
		group->filled[i] =
		    mu_arena_alloc(arena, units, sizeof(uint64_t));
	return group->written != NULL && group->unread != NULL &&
	    (closed ? group->there != NULL && group->taken != NULL
		    : group->filled[0] != NULL && group->filled[1] != NULL);
}

/*
 * At the same offset in a huge page as in the subject, so that dense memory can
 * use huge pages here.
 */
bool
mu_remote_group_open(struct mu_remote_group *group, struct mu_range range,
    size_t page_size, bool closed, struct mu_arena *arena)
{
	size_t size;
	long at;

	*group = (struct mu_remote_group) { .range = range };
	if (__builtin_add_overflow(mu_range_size(range), MU_REMOTE_HUGE, &size))
		return false;
	at =
	    mu_sys_mmap(NULL, size, closed ? PROT_NONE : PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(at))
		return false;
	group->reserved = (void *)at;
	group->reserved_size = size;
	group->base =
	    (char *)at + ((range.begin - (uintptr_t)at) & (MU_REMOTE_HUGE - 1));
	return open_tables(group, page_size, closed, arena);
}

void
mu_remote_group_close(struct mu_remote_group *group)
{
	if (group->reserved != NULL)
		mu_sys_munmap(group->reserved, group->reserved_size);
	group->reserved = NULL;
}
