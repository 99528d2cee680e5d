/*
 * Reading what a mirror shows: see heapwalk/mirror_group.h.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mirror_group.h"

#include <string.h>

#include "heapwalk/workers.h"
#include "mu/sys.h"

#define SLICE ((size_t)1 << 20) /* bytes that a worker takes at a time */

/* The upper bits of an entry of pagemap. */
#define PRESENT_OR_SWAPPED 62

struct filling {
	struct mu_memory_mirror *mirror;
	struct mu_mirror_group *group;
	struct mu_range range; /* whole units, none of them filled */
	enum mu_mirror_pages kind;
	size_t next; /* slice that nobody has taken */
};

static char *
place(const struct mu_mirror_group *group, uintptr_t address)
{
	return group->base + (address - group->range.begin);
}

/* The front of RANGE, from known bytes; how many. */
static size_t
copy_known(const struct filling *filling, struct mu_range range)
{
	const struct mu_mirror_source *source = &filling->mirror->source;
	const struct mu_mirror_part *part = mu_mirror_part(source, range.begin);
	size_t size;

	if (part == source->parts + source->num_parts || part->bytes == NULL ||
	    !mu_range_has(part->range, range.begin))
		return 0;
	size = mu_range_size(mu_range_common(part->range, range));
	memcpy(place(filling->group, range.begin),
	    part->bytes + (range.begin - part->range.begin), size);
	return size;
}

/* Up to where the front of RANGE has to be read. */
static struct mu_range
unknown(const struct filling *filling, struct mu_range range)
{
	const struct mu_mirror_source *source = &filling->mirror->source;
	const struct mu_mirror_part *part = mu_mirror_part(source, range.begin);
	const struct mu_mirror_part *end = source->parts + source->num_parts;

	for (; part < end && part->range.begin < range.end; part++)
		if (part->bytes != NULL)
			range.end = part->range.begin;
	return range;
}

/*
 * Is there no page in the process at ADDRESS, which cannot be read? Then it is
 * behind the end of a file, or in a guard region.
 */
static bool
is_closed(const struct mu_memory_mirror *mirror, uintptr_t address)
{
	uint64_t entry = 0;

	return mu_sys_pread(mirror->source.shared_pagemap, &entry,
		   sizeof(entry),
		   address / mirror->page_size * sizeof(entry)) ==
	    sizeof(entry) &&
	    entry >> PRESENT_OR_SWAPPED == 0;
}

/* A page that cannot be read stays zero, and is counted. */
static void
read_unknown(const struct filling *filling, struct mu_range part)
{
	struct mu_memory_mirror *mirror = filling->mirror;
	ssize_t got;

	while (part.begin < part.end) {
		got = mu_sys_pread(mirror->source.memory,
		    place(filling->group, part.begin), mu_range_size(part),
		    part.begin);
		if (got == -EINTR)
			continue;
		if (got == 0) /* mem_rw() in fs/proc/base.c: no memory */
			__atomic_store_n(&mirror->gone, true, __ATOMIC_RELAXED);
		if (got <= 0) {
			__atomic_fetch_add(
			    &mirror->skipped, 1, __ATOMIC_RELAXED);
			if (is_closed(mirror, part.begin))
				__atomic_fetch_add(
				    &mirror->closed, 1, __ATOMIC_RELAXED);
			got = (ssize_t)(mirror->page_size -
			    part.begin % mirror->page_size);
		}
		part.begin += (size_t)got;
	}
}

static void
read_part(const struct filling *filling, struct mu_range part)
{
	struct mu_range front;
	size_t known;

	while (part.begin < part.end) {
		known = copy_known(filling, part);
		if (known == 0) {
			front = unknown(filling, part);
			read_unknown(filling, front);
			known = mu_range_size(front);
		}
		part.begin += known;
	}
}

static bool
has_any(const struct filling *filling, const struct mu_mapping *mapping)
{
	return filling->kind == MU_MIRROR_WRITTEN ||
	    (mapping->inode != 0 && !mapping->shared && mapping->readable);
}

static bool
read_runs(const struct filling *filling, struct mu_range range)
{
	struct mu_range part;
	bool any = false;

	for (; range.begin < range.end &&
	     mu_mirror_run(
		 filling->mirror, filling->group, filling->kind, range, &part);
	     range.begin = part.end) {
		any = true;
		if (filling->mirror->detached)
			break;
		read_part(filling, part);
	}
	return any;
}

/* Go through RANGE by mappings. True: something is there to be read. */
static bool
read_range(const struct filling *filling, struct mu_range range)
{
	const struct mu_memory_mirror *mirror = filling->mirror;
	const struct mu_mapping *mapping, *end;
	struct mu_range inside;
	bool any = false;

	mapping = mu_mirror_mapping(mirror, range.begin);
	end = mirror->mappings + mirror->num_mappings;
	for (; mapping != NULL && mapping < end &&
	     mapping->range.begin < range.end;
	     mapping++) {
		inside = mu_range_common(mapping->range, range);
		if (has_any(filling, mapping))
			any |= read_runs(filling, inside);
	}
	return any;
}

/* One worker. */
static void
read_slices(void *ctx, unsigned worker)
{
	struct filling *filling = ctx;
	struct mu_range slice;
	size_t i, size = mu_range_size(filling->range);

	(void)worker;
	for (;;) {
		i = __atomic_fetch_add(&filling->next, 1, __ATOMIC_RELAXED);
		if (i * SLICE >= size ||
		    (filling->mirror->until_ns != 0 &&
			mu_sys_now_ns() >= filling->mirror->until_ns))
			return;
		slice.begin = filling->range.begin + i * SLICE;
		slice.end = slice.begin +
		    (size - i * SLICE < SLICE ? size - i * SLICE : SLICE);
		read_range(filling, slice);
	}
}

bool
mu_mirror_fill(struct mu_memory_mirror *mirror, struct mu_mirror_group *group,
    struct mu_range range, enum mu_mirror_pages kind)
{
	struct filling filling = {
		.mirror = mirror, .group = group, .kind = kind
	};
	uint64_t *filled = group->filled[kind];
	uintptr_t begin = group->range.begin;
	size_t unit, stop, last, i;

	last = (range.end - 1 - begin) / MU_MIRROR_UNIT;
	for (unit = (range.begin - begin) / MU_MIRROR_UNIT; unit <= last;
	     unit = stop + 1) {
		for (stop = unit; stop <= last && !mu_mirror_bit(filled, stop);)
			stop++;
		if (stop == unit)
			continue;
		filling.range.begin = begin + unit * MU_MIRROR_UNIT;
		filling.range.end = begin + stop * MU_MIRROR_UNIT;
		if (filling.range.end > group->range.end)
			filling.range.end = group->range.end;
		if (mirror->detached) {
			if (read_range(&filling, filling.range))
				return false;
			continue;
		}
		filling.next = 0;
		mu_workers_run(mirror->workers,
		    (unsigned)(1 + mu_range_size(filling.range) / SLICE),
		    read_slices, &filling);
		for (i = unit; i < stop; i++)
			mu_mirror_set(filled, i);
	}
	return true;
}
