#include "heapwalk/memory/remote_memory.h"

#include "heapwalk/memory/map_file.h"
#include "heapwalk/memory/pages.h"
#include "heapwalk/memory/remote_group.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

/* Bytes of shared memory that are read without knowing that they have data. */
#define BLINDLY ((size_t)4 << 20)

#define PEEKS 4 /* reads from a page, before the whole page is read */

#define SEEK_TO_END 2 /* SEEK_END of linux/fs.h */

/*
 * Pages of files only if they are in RANGE itself, not for the rest of a unit:
 * to read one may take as long as its file system likes.
 */
static bool
fill(struct mu_remote_memory *remote, struct mu_remote_group *group,
    struct mu_range range)
{
	struct mu_range part;

	return mu_remote_fill(remote, group, range, MU_REMOTE_WRITTEN) &&
	    (!mu_remote_run(remote, group, MU_REMOTE_UNCHANGED, range, &part) ||
		mu_remote_fill(remote, group, range, MU_REMOTE_UNCHANGED));
}

static const void *
remote_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	struct mu_remote_memory *remote = memory->ctx;
	struct mu_range range = { address, 0 };
	struct mu_remote_group *group;

	if (size == 0 || __builtin_add_overflow(address, size, &range.end) ||
	    !mu_mappings_are_memory(
		remote->mappings, remote->num_mappings, range))
		return NULL;
	group = mu_remote_group(remote, address);
	if (group == NULL || group->range.begin > address ||
	    group->range.end < range.end)
		return NULL;
	if (remote->window.ring == NULL ? !fill(remote, group, range)
					: remote->detached)
		return NULL;
	return group->base + (address - group->range.begin);
}

/*
 * A page that is read in small pieces is fetched as a whole after PEEKS reads,
 * which costs about as much. Threads may disturb each other's count.
 */
static bool
is_repeated(struct mu_remote_memory *remote, uintptr_t address)
{
	uintptr_t page = address - address % remote->page_size;
	uintptr_t last = __atomic_load_n(&remote->peeked, __ATOMIC_RELAXED);
	uintptr_t times = last % remote->page_size;

	if (last - times != page)
		times = 0;
	if (times == PEEKS)
		return true;
	__atomic_store_n(&remote->peeked, page + times + 1, __ATOMIC_RELAXED);
	return false;
}

static const void *
remote_peek(
    struct mu_memory *memory, uintptr_t address, size_t size, void *buffer)
{
	struct mu_remote_memory *remote = memory->ctx;
	struct mu_range range = { address, address + size };
	const char *view = remote_view(memory, address, size);
	struct mu_remote_group *group;

	if (view == NULL || remote->window.ring == NULL ||
	    is_repeated(remote, address))
		return view;
	group = mu_remote_group(remote, address);
	if (mu_remote_window_has(&remote->window, group, range) ||
	    !mu_remote_read_some(remote, group, range, buffer))
		return view;
	return buffer;
}

/* Bytes in the window may be read again: that costs less than checking. */
static bool
mirror_read(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	struct mu_remote_memory *remote = memory->ctx;
	struct mu_remote_group *group;

	if (remote->window.ring == NULL || remote->detached)
		return false;
	if (mu_range_size(range) == 0)
		return true;
	group = mu_remote_group(remote, range.begin);
	if (group == NULL || group->range.begin > range.begin ||
	    group->range.end < range.end)
		return false;
	mu_remote_read(remote, group, range, buffer);
	return true;
}

static bool
remote_populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	const struct mu_remote_memory *remote = memory->ctx;
	const struct mu_mapping *mapping, *end;
	const struct mu_remote_group *group;
	struct mu_range inside;

	if (mu_range_size(range) == 0)
		return false;
	mapping = mu_remote_mapping(remote, range.begin);
	end = remote->mappings + remote->num_mappings;
	for (; mapping != NULL && mapping < end; mapping++) {
		if (mapping->range.begin >= range.end)
			break;
		inside = mu_range_common(mapping->range, range);
		group = mu_remote_group(remote, inside.begin);
		if (mu_mapping_is_memory(mapping) && group != NULL &&
		    group->range.begin <= inside.begin &&
		    mu_remote_run(
			remote, group, MU_REMOTE_WRITTEN, inside, part))
			return true;
	}
	return false;
}

/* The contents were read with the rest. */
static bool
remote_unlock(struct mu_memory *memory, const struct mu_mapping *mapping)
{
	const struct mu_remote_group *group =
	    mu_remote_group(memory->ctx, mapping->range.begin);

	return mu_mapping_can_be_memory(mapping) && group != NULL &&
	    group->range.begin <= mapping->range.begin;
}

static const struct mu_memory_ops ops = {
	.name = "process",
	.view = remote_view,
	.peek = remote_peek,
	.read = mirror_read,
	.populated = remote_populated,
	.unlock = remote_unlock,
};

/*
 * Address space that the program has only reserved, as sanitizers do for 2 to
 * 34 TiB of it. No block is made inaccessible in a piece of this size.
 */
#define RESERVED ((size_t)1 << 40)

static bool
is_in_group(const struct mu_mapping *mapping)
{
	return mu_mapping_can_be_memory(mapping) &&
	    (mapping->readable || mu_range_size(mapping->range) < RESERVED);
}

/* The end of the group that begins with MAPPING. */
static const struct mu_mapping *
group_end(const struct mu_mapping *mapping, const struct mu_mapping *end)
{
	const struct mu_mapping *next;

	for (next = mapping + 1; next < end; next++)
		if (!is_in_group(next) ||
		    next->range.begin != next[-1].range.end)
			break;
	return next;
}

static bool
open_groups(struct mu_remote_memory *remote, struct mu_arena *arena)
{
	const struct mu_mapping *at, *next, *end;
	struct mu_remote_group *group;

	end = remote->mappings + remote->num_mappings;
	remote->groups = mu_arena_alloc(
	    arena, remote->num_mappings + 1, sizeof(*remote->groups));
	if (remote->groups == NULL)
		return false;
	for (at = remote->mappings; at < end; at = next) {
		next = at + 1;
		if (!is_in_group(at))
			continue;
		next = group_end(at, end);
		group = &remote->groups[remote->num_groups++];
		if (!mu_remote_group_open(group,
			(struct mu_range) {
			    at->range.begin, next[-1].range.end },
			remote->page_size, remote->source.window > 0, arena))
			return false;
	}
	return true;
}

/* The kernel or the arena refuses. */
static enum mu_status
no_room(const struct mu_remote_memory *remote, struct mu_why *why)
{
	size_t i, bytes = 0;

	for (i = 0; i < remote->num_mappings; i++)
		if (is_in_group(&remote->mappings[i]))
			bytes += mu_range_size(remote->mappings[i].range);
	if (bytes < RESERVED)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no address space for the memory of the process");
	return mu_why(why, MU_ERR_NO_MEMORY,
	    "no address space for the %zu TiB that the process has mapped" MU_CURE
	    "if it has a sanitizer, that finds its leaks",
	    bytes >> 40);
}

static void
note_range(struct mu_remote_memory *remote, struct mu_remote_group *group,
    struct mu_range range)
{
	size_t page, size = remote->page_size;
	struct mu_range huge = {
		(range.begin + MU_REMOTE_HUGE - 1) & ~(MU_REMOTE_HUGE - 1),
		range.end & ~(MU_REMOTE_HUGE - 1),
	};

	/*
	 * A huge page costs half as much to fault in, and all of its pages are
	 * needed.
	 */
	if (huge.begin < huge.end && remote->source.window == 0)
		mu_sys3(SYS_madvise,
		    (long)(group->base + (huge.begin - group->range.begin)),
		    (long)mu_range_size(huge), MADV_HUGEPAGE);

	for (page = (range.begin - group->range.begin) / size;
	     page < (range.end - group->range.begin) / size; page++) {
		if (!mu_bit(group->written, page))
			remote->written += size;
		mu_bit_set(group->written, page);
	}
}

static void
note_written(struct mu_remote_memory *remote, struct mu_pages *pages,
    const struct mu_mapping *mapping)
{
	struct mu_remote_group *group =
	    mu_remote_group(remote, mapping->range.begin);
	struct mu_range rest = mapping->range, part;

	for (; rest.begin < rest.end &&
	     mu_pages_next(pages, mapping, rest, &part);
	     rest.begin = part.end)
		note_range(remote, group, part);
}

static void
note_parts(struct mu_remote_memory *remote, const struct mu_mapping *mapping)
{
	const struct mu_remote_source *source = &remote->source;
	const struct mu_remote_part *part =
	    mu_remote_part(source, mapping->range.begin);
	const struct mu_remote_part *end = source->parts + source->num_parts;
	struct mu_remote_group *group =
	    mu_remote_group(remote, mapping->range.begin);

	for (; part < end && part->range.begin < mapping->range.end; part++)
		note_range(remote, group,
		    mu_range_common(part->range, mapping->range));
}

/*
 * If the file does not show what other processes wrote to pages that this
 * process has not touched, read a limited amount anyway. In a hole of the file
 * the kernel then allocates pages, which the process gets, too.
 */
static void
note_blindly(struct mu_remote_memory *remote, size_t *blindly,
    const struct mu_mapping *mapping)
{
	size_t size = mu_range_size(mapping->range);

	if (size > *blindly) {
		remote->unasked += size;
		return;
	}
	*blindly -= size;
	note_range(remote, mu_remote_group(remote, mapping->range.begin),
	    mapping->range);
}

/*
 * From now on read whole pages of this memory from FILE. The last page may have
 * contents after the end of the file that only a mapping shows. Pages of a
 * private mapping may be the process's own copies.
 */
static void
add_file(
    struct mu_remote_memory *remote, int file, const struct mu_mapping *mapping)
{
	struct mu_range range = mapping->range;
	uint64_t size, offset = mapping->offset;
	long end = mu_sys3(SYS_lseek, file, 0, SEEK_TO_END);

	size =
	    end > 0 ? (uint64_t)end / remote->page_size * remote->page_size : 0;
	if (!mapping->shared || remote->num_files == MU_REMOTE_FILES ||
	    size <= offset) {
		mu_sys_close(&file);
		return;
	}
	if (size - offset < mu_range_size(range))
		range.end = range.begin + (size - offset);
	remote->files[remote->num_files++] = (struct mu_remote_file) {
		.range = range,
		.file = file,
		.offset = offset - range.begin,
	};
}

/* Note all data of the file of MAPPING, touched or not. */
static void
note_untouched(struct mu_remote_memory *remote, struct mu_tmpfs *tmpfs,
    size_t *blindly, const struct mu_mapping *mapping)
{
	struct mu_remote_group *group =
	    mu_remote_group(remote, mapping->range.begin);
	struct mu_range rest = mapping->range, part;
	int file = mu_map_file_open(mapping, tmpfs);

	if (file < 0) {
		note_blindly(remote, blindly, mapping);
		return;
	}
	for (; mu_range_size(rest) > 0 &&
	     mu_map_file_next(file, mapping, remote->page_size, rest, &part);
	     rest.begin = part.end)
		note_range(remote, group, part);
	add_file(remote, file, mapping);
}

static void
look(struct mu_remote_memory *remote)
{
	const struct mu_remote_source *source = &remote->source;
	struct mu_pages private, shared;
	struct mu_tmpfs tmpfs = { .pid = source->pid };
	const struct mu_mapping *mapping;
	size_t i, blindly = BLINDLY;

	mu_pages_of(&private, source->pagemap, remote->page_size);
	mu_pages_of(&shared, source->shared_pagemap, remote->page_size);
	for (i = 0; i < remote->num_mappings; i++) {
		mapping = &remote->mappings[i];
		if (!is_in_group(mapping))
			continue;
		if (!mapping->shared || !source->has_parts)
			note_written(remote,
			    mapping->shared ? &shared : &private, mapping);
		if (source->has_parts)
			note_parts(remote, mapping);
		else if (mu_mapping_is_changing(mapping, &tmpfs))
			note_untouched(remote, &tmpfs, &blindly, mapping);
	}
}

enum mu_status
mu_remote_memory_open(struct mu_memory *memory, struct mu_remote_memory *remote,
    const struct mu_remote_source *source, const struct mu_mapping *mappings,
    size_t num_mappings, size_t limit, struct mu_arena *arena,
    struct mu_why *why)
{
	*remote = (struct mu_remote_memory) {
		.source = *source,
		.mappings = mappings,
		.num_mappings = num_mappings,
		.page_size = source->page_size,
		.memory = memory,
	};
	*memory = (struct mu_memory) {
		.ops = &ops,
		.page_size = remote->page_size,
		.ctx = remote,
	};
	if (!open_groups(remote, arena) ||
	    (source->window > 0 &&
		!mu_remote_window_open(
		    &remote->window, remote, source->window, arena)))
		return no_room(remote, why);
	look(remote);
	if (remote->written > limit && source->window == 0)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "%zu MiB to be read are more than %zu MiB",
		    remote->written >> 20, limit >> 20);
	return MU_OK;
}

bool
mu_remote_memory_fill(struct mu_memory *memory, uint64_t until_ns)
{
	struct mu_remote_memory *remote = memory->ctx;
	size_t i;

	remote->until_ns = until_ns;
	remote->begin_ns = mu_sys_now_ns();
	remote->late = false;
	for (i = 0; i < remote->num_groups; i++)
		mu_remote_fill(remote, &remote->groups[i],
		    remote->groups[i].range, MU_REMOTE_WRITTEN);
	remote->until_ns = 0;
	return !remote->late && mu_sys_now_ns() < until_ns;
}

void
mu_remote_memory_detach(struct mu_memory *memory)
{
	struct mu_remote_memory *remote = memory->ctx;

	remote->detached = true;
}

void
mu_remote_memory_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t count)
{
	struct mu_range part;
	size_t i;

	for (i = 0; i < count; i++) {
		if (mappings[i].readable ||
		    !mu_mapping_can_be_memory(&mappings[i]))
			continue;
		/* Nothing unreadable is populated. */
		mappings[i].readable = true;
		mappings[i].readable =
		    remote_populated(memory, mappings[i].range, &part);
	}
}

void
mu_remote_memory_close(struct mu_memory *memory)
{
	struct mu_remote_memory *remote = memory->ctx;
	size_t i;

	if (remote == NULL)
		return;
	mu_remote_window_close(&remote->window);
	for (i = 0; i < remote->num_groups; i++)
		mu_remote_group_close(&remote->groups[i]);
	remote->num_groups = 0;
	for (i = 0; i < remote->num_files; i++)
		mu_sys_close(&remote->files[i].file);
	remote->num_files = 0;
	memory->ctx = NULL;
}
