#include "heapwalk/memory/mirror.h"

#include "heapwalk/memory/map_file.h"
#include "heapwalk/memory/mirror_group.h"
#include "heapwalk/memory/pages.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

/* Bytes of shared memory that are read without being known to be there. */
#define BLINDLY ((size_t)4 << 20)

#define PEEKS 4 /* at a page, before it is read as a whole */

#define SEEK_TO_END 2 /* SEEK_END of linux/fs.h */

static const void *
mirror_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	struct mu_memory_mirror *mirror = memory->ctx;
	struct mu_range range = { address, 0 };
	struct mu_mirror_group *group;

	if (size == 0 || __builtin_add_overflow(address, size, &range.end) ||
	    !mu_mappings_are_memory(
		mirror->mappings, mirror->num_mappings, range))
		return NULL;
	group = mu_mirror_group(mirror, address);
	if (group == NULL || group->range.begin > address ||
	    group->range.end < range.end)
		return NULL;
	if (mirror->window.ring == NULL
		? !mu_mirror_fill(mirror, group, range, MU_MIRROR_WRITTEN) ||
		    !mu_mirror_fill(mirror, group, range, MU_MIRROR_UNCHANGED)
		: mirror->detached)
		return NULL;
	return group->base + (address - group->range.begin);
}

/*
 * Who goes through a page by and by gets it in place, which costs as much as to
 * copy a little PEEKS times. Threads may take each other's page out of account.
 */
static bool
is_repeated(struct mu_memory_mirror *mirror, uintptr_t address)
{
	uintptr_t page = address - address % mirror->page_size;
	uintptr_t last = __atomic_load_n(&mirror->peeked, __ATOMIC_RELAXED);
	uintptr_t times = last % mirror->page_size;

	if (last - times != page)
		times = 0;
	if (times == PEEKS)
		return true;
	__atomic_store_n(&mirror->peeked, page + times + 1, __ATOMIC_RELAXED);
	return false;
}

static const void *
mirror_peek(
    struct mu_memory *memory, uintptr_t address, size_t size, void *buffer)
{
	struct mu_memory_mirror *mirror = memory->ctx;
	struct mu_range range = { address, address + size };
	const char *view = mirror_view(memory, address, size);
	struct mu_mirror_group *group;

	if (view == NULL || mirror->window.ring == NULL ||
	    is_repeated(mirror, address))
		return view;
	group = mu_mirror_group(mirror, address);
	if (mu_mirror_window_has(&mirror->window, group, range) ||
	    !mu_mirror_read_some(mirror, group, range, buffer))
		return view;
	return buffer;
}

/* What is in the window already is read again, which costs less than to ask. */
static bool
mirror_read(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	struct mu_memory_mirror *mirror = memory->ctx;
	struct mu_mirror_group *group;

	if (mirror->window.ring == NULL || mirror->detached)
		return false;
	if (mu_range_size(range) == 0)
		return true;
	group = mu_mirror_group(mirror, range.begin);
	if (group == NULL || group->range.begin > range.begin ||
	    group->range.end < range.end)
		return false;
	mu_mirror_read(mirror, group, range, buffer);
	return true;
}

static bool
mirror_populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	const struct mu_memory_mirror *mirror = memory->ctx;
	const struct mu_mapping *mapping, *end;
	const struct mu_mirror_group *group;
	struct mu_range inside;

	if (mu_range_size(range) == 0)
		return false;
	mapping = mu_mirror_mapping(mirror, range.begin);
	end = mirror->mappings + mirror->num_mappings;
	for (; mapping != NULL && mapping < end; mapping++) {
		if (mapping->range.begin >= range.end)
			break;
		inside = mu_range_common(mapping->range, range);
		group = mu_mirror_group(mirror, inside.begin);
		if (mu_mapping_is_memory(mapping) && group != NULL &&
		    group->range.begin <= inside.begin &&
		    mu_mirror_run(
			mirror, group, MU_MIRROR_WRITTEN, inside, part))
			return true;
	}
	return false;
}

/* What it holds was read with the rest. */
static bool
mirror_unlock(struct mu_memory *memory, const struct mu_mapping *mapping)
{
	const struct mu_mirror_group *group =
	    mu_mirror_group(memory->ctx, mapping->range.begin);

	return mu_mapping_can_be_memory(mapping) && group != NULL &&
	    group->range.begin <= mapping->range.begin;
}

static const struct mu_memory_ops ops = {
	.name = "process",
	.view = mirror_view,
	.peek = mirror_peek,
	.read = mirror_read,
	.populated = mirror_populated,
	.unlock = mirror_unlock,
};

/* Where the group that MAPPING begins ends. */
static const struct mu_mapping *
group_end(const struct mu_mapping *mapping, const struct mu_mapping *end)
{
	const struct mu_mapping *next;

	for (next = mapping + 1; next < end; next++)
		if (!mu_mapping_can_be_memory(next) ||
		    next->range.begin != next[-1].range.end)
			break;
	return next;
}

static bool
open_groups(struct mu_memory_mirror *mirror, struct mu_arena *arena)
{
	const struct mu_mapping *at, *next, *end;
	struct mu_mirror_group *group;

	end = mirror->mappings + mirror->num_mappings;
	mirror->groups = mu_arena_alloc(
	    arena, mirror->num_mappings + 1, sizeof(*mirror->groups));
	if (mirror->groups == NULL)
		return false;
	for (at = mirror->mappings; at < end; at = next) {
		next = at + 1;
		if (!mu_mapping_can_be_memory(at))
			continue;
		next = group_end(at, end);
		group = &mirror->groups[mirror->num_groups++];
		if (!mu_mirror_group_open(group,
			(struct mu_range) {
			    at->range.begin, next[-1].range.end },
			mirror->page_size, mirror->source.window > 0, arena))
			return false;
	}
	return true;
}

static void
note_range(struct mu_memory_mirror *mirror, struct mu_mirror_group *group,
    struct mu_range range)
{
	size_t page, size = mirror->page_size;
	struct mu_range huge = {
		(range.begin + MU_MIRROR_HUGE - 1) & ~(MU_MIRROR_HUGE - 1),
		range.end & ~(MU_MIRROR_HUGE - 1),
	};

	/* Its pages come at half the cost, and none of them is too many. */
	if (huge.begin < huge.end && mirror->source.window == 0)
		mu_sys3(SYS_madvise,
		    (long)(group->base + (huge.begin - group->range.begin)),
		    (long)mu_range_size(huge), MADV_HUGEPAGE);

	for (page = (range.begin - group->range.begin) / size;
	     page < (range.end - group->range.begin) / size; page++) {
		if (!mu_bit(group->written, page))
			mirror->written += size;
		mu_bit_set(group->written, page);
	}
}

static void
note_written(struct mu_memory_mirror *mirror, struct mu_pages *pages,
    const struct mu_mapping *mapping)
{
	struct mu_mirror_group *group =
	    mu_mirror_group(mirror, mapping->range.begin);
	struct mu_range rest = mapping->range, part;

	for (; rest.begin < rest.end &&
	     mu_pages_next(pages, mapping, rest, &part);
	     rest.begin = part.end)
		note_range(mirror, group, part);
}

static void
note_parts(struct mu_memory_mirror *mirror, const struct mu_mapping *mapping)
{
	const struct mu_mirror_source *source = &mirror->source;
	const struct mu_mirror_part *part =
	    mu_mirror_part(source, mapping->range.begin);
	const struct mu_mirror_part *end = source->parts + source->num_parts;
	struct mu_mirror_group *group =
	    mu_mirror_group(mirror, mapping->range.begin);

	for (; part < end && part->range.begin < mapping->range.end; part++)
		note_range(mirror, group,
		    mu_range_common(part->range, mapping->range));
}

/*
 * Where the file tells nothing of what others have written and the process has
 * not touched, a little of it is read all the same. Where it is a hole of the
 * file the kernel makes pages for that, in the process, too.
 */
static void
note_blindly(struct mu_memory_mirror *mirror, size_t *blindly,
    const struct mu_mapping *mapping)
{
	size_t size = mu_range_size(mapping->range);

	if (size > *blindly) {
		mirror->unasked += size;
		return;
	}
	*blindly -= size;
	note_range(mirror, mu_mirror_group(mirror, mapping->range.begin),
	    mapping->range);
}

/*
 * Read from FILE from now on, as far as it has whole pages: the last page may
 * have contents behind the end of the file that only a mapping shows. Pages of
 * a private mapping may be the process's own copies.
 */
static void
add_file(
    struct mu_memory_mirror *mirror, int file, const struct mu_mapping *mapping)
{
	struct mu_range range = mapping->range;
	uint64_t size, offset = mapping->offset;
	long end = mu_sys3(SYS_lseek, file, 0, SEEK_TO_END);

	size =
	    end > 0 ? (uint64_t)end / mirror->page_size * mirror->page_size : 0;
	if (!mapping->shared || mirror->num_files == MU_MIRROR_FILES ||
	    size <= offset) {
		mu_sys_close(&file);
		return;
	}
	if (size - offset < mu_range_size(range))
		range.end = range.begin + (size - offset);
	mirror->files[mirror->num_files++] = (struct mu_mirror_file) {
		.range = range,
		.file = file,
		.offset = offset - range.begin,
	};
}

/* All that the file of MAPPING has, touched or not. */
static void
note_untouched(struct mu_memory_mirror *mirror, struct mu_tmpfs *tmpfs,
    size_t *blindly, const struct mu_mapping *mapping)
{
	struct mu_mirror_group *group =
	    mu_mirror_group(mirror, mapping->range.begin);
	struct mu_range rest = mapping->range, part;
	int file = mu_map_file_open(mapping, tmpfs);

	if (file < 0) {
		note_blindly(mirror, blindly, mapping);
		return;
	}
	for (; mu_range_size(rest) > 0 &&
	     mu_map_file_next(file, mapping, mirror->page_size, rest, &part);
	     rest.begin = part.end)
		note_range(mirror, group, part);
	add_file(mirror, file, mapping);
}

static void
look(struct mu_memory_mirror *mirror)
{
	const struct mu_mirror_source *source = &mirror->source;
	struct mu_pages private, shared;
	struct mu_tmpfs tmpfs = { .pid = source->pid };
	const struct mu_mapping *mapping;
	size_t i, blindly = BLINDLY;

	mu_pages_of(&private, source->pagemap, mirror->page_size);
	mu_pages_of(&shared, source->shared_pagemap, mirror->page_size);
	for (i = 0; i < mirror->num_mappings; i++) {
		mapping = &mirror->mappings[i];
		if (!mu_mapping_can_be_memory(mapping))
			continue;
		if (!mapping->shared || !source->has_parts)
			note_written(mirror,
			    mapping->shared ? &shared : &private, mapping);
		if (source->has_parts)
			note_parts(mirror, mapping);
		else if (mu_mapping_is_changing(mapping, &tmpfs))
			note_untouched(mirror, &tmpfs, &blindly, mapping);
	}
}

enum mu_status
mu_memory_mirror_open(struct mu_memory *memory, struct mu_memory_mirror *mirror,
    const struct mu_mirror_source *source, const struct mu_mapping *mappings,
    size_t num_mappings, size_t limit, struct mu_arena *arena,
    struct mu_why *why)
{
	*mirror = (struct mu_memory_mirror) {
		.source = *source,
		.mappings = mappings,
		.num_mappings = num_mappings,
		.page_size = source->page_size,
		.memory = memory,
	};
	*memory = (struct mu_memory) {
		.ops = &ops,
		.page_size = mirror->page_size,
		.ctx = mirror,
	};
	if (!open_groups(mirror, arena) ||
	    (source->window > 0 &&
		!mu_mirror_window_open(
		    &mirror->window, mirror, source->window, arena)))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no address space for a mirror of the process");
	look(mirror);
	if (mirror->written > limit && source->window == 0)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "%zu MiB to be read are more than %zu MiB",
		    mirror->written >> 20, limit >> 20);
	return MU_OK;
}

bool
mu_memory_mirror_fill(struct mu_memory *memory, uint64_t until_ns)
{
	struct mu_memory_mirror *mirror = memory->ctx;
	size_t i;

	mirror->until_ns = until_ns;
	mirror->begin_ns = mu_sys_now_ns();
	mirror->late = false;
	for (i = 0; i < mirror->num_groups; i++)
		mu_mirror_fill(mirror, &mirror->groups[i],
		    mirror->groups[i].range, MU_MIRROR_WRITTEN);
	mirror->until_ns = 0;
	return !mirror->late && mu_sys_now_ns() < until_ns;
}

void
mu_memory_mirror_detach(struct mu_memory *memory)
{
	struct mu_memory_mirror *mirror = memory->ctx;

	mirror->detached = true;
}

void
mu_memory_mirror_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t count)
{
	struct mu_range part;
	size_t i;

	for (i = 0; i < count; i++) {
		if (mappings[i].readable ||
		    !mu_mapping_can_be_memory(&mappings[i]))
			continue;
		/* Nothing of what cannot be read is populated. */
		mappings[i].readable = true;
		mappings[i].readable =
		    mirror_populated(memory, mappings[i].range, &part);
	}
}

void
mu_memory_mirror_close(struct mu_memory *memory)
{
	struct mu_memory_mirror *mirror = memory->ctx;
	size_t i;

	if (mirror == NULL)
		return;
	mu_mirror_window_close(&mirror->window);
	for (i = 0; i < mirror->num_groups; i++)
		mu_mirror_group_close(&mirror->groups[i]);
	mirror->num_groups = 0;
	for (i = 0; i < mirror->num_files; i++)
		mu_sys_close(&mirror->files[i].file);
	mirror->num_files = 0;
	memory->ctx = NULL;
}
