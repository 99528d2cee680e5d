/* Read what views show: see heapwalk/memory/remote_group.h. */
#include "heapwalk/memory/remote_group.h"

#include <string.h>

#include "heapwalk/memory/pages.h"
#include "heapwalk/subject/workers.h"
#include "mu/sys.h"

#define SLICE ((size_t)1 << 20)  /* bytes that a worker takes at a time */
#define AHEAD ((size_t)64 << 30) /* how far it looks for the next ones */

/*
 * The rate of reading is measured over this much; it varies with the load of
 * the machine.
 */
#define TRIAL ((size_t)16 << 20)

struct filling {
	struct mu_remote_memory *remote;
	struct mu_remote_group *group;
	struct mu_range range; /* whole units, none of them filled */
	enum mu_remote_pages kind;
	char *to;       /* destination */
	uintptr_t from; /* address of RANGE in the subject */
	size_t next;    /* next slice to be read */
};

static char *
place(const struct filling *filling, uintptr_t address)
{
	return filling->to + (address - filling->from);
}

/* Copy known bytes of the front of RANGE. Returns how many. */
static size_t
copy_known(const struct filling *filling, struct mu_range range)
{
	const struct mu_remote_source *source = &filling->remote->source;
	const struct mu_remote_part *part = mu_remote_part(source, range.begin);
	size_t size;

	if (part == source->parts + source->num_parts || part->bytes == NULL ||
	    !mu_range_has(part->range, range.begin))
		return 0;
	size = mu_range_size(mu_range_common(part->range, range));
	memcpy(place(filling, range.begin),
	    part->bytes + (range.begin - part->range.begin), size);
	return size;
}

/* The source of an address: this file, or a process. */
struct origin {
	int file;
	uint64_t offset; /* of the file, minus the address */
	bool of_file;    /* a file, not a process */
};

/*
 * The front of RANGE that has to be read from one source, and that source. Not
 * empty, even if parts overlap: the reader may have a real-time priority.
 */
static struct mu_range
unknown(
    const struct filling *filling, struct mu_range range, struct origin *origin)
{
	const struct mu_remote_source *source = &filling->remote->source;
	const struct mu_remote_part *part = mu_remote_part(source, range.begin);
	const struct mu_remote_part *end = source->parts + source->num_parts;
	const struct mu_remote_file *file;

	*origin = (struct origin) { source->memory, 0, false };
	if (part < end && part->live &&
	    mu_range_has(part->range, range.begin)) {
		origin->file = source->live;
		return mu_range_common(part->range, range);
	}
	for (; part < end && part->range.begin < range.end; part++)
		if (part->range.begin > range.begin &&
		    (part->bytes != NULL || part->live))
			range.end = part->range.begin;
	file = mu_remote_file(filling->remote, range.begin);
	if (file != NULL && range.begin < file->range.begin) {
		if (file->range.begin < range.end)
			range.end = file->range.begin;
	} else if (file != NULL) {
		range = mu_range_common(file->range, range);
		*origin = (struct origin) { file->file, file->offset, true };
	}
	return range;
}

/*
 * True if the process cannot read at ADDRESS either: after the end of a file,
 * or in a guard region.
 */
static bool
is_closed(const struct mu_remote_memory *remote, uintptr_t address)
{
	uint64_t entry = 0;

	return mu_sys_pread(remote->source.shared_pagemap, &entry,
		   sizeof(entry),
		   address / remote->page_size * sizeof(entry)) ==
	    sizeof(entry) &&
	    !mu_page_entry_there(entry);
}

/*
 * Do not use process_vm_readv() on a copy: to pin a page that a fork shares,
 * the kernel copies it first (FAULT_FLAG_UNSHARE, Linux 5.19).
 */
static ssize_t
read_some(const struct filling *filling, struct mu_range part,
    const struct origin *origin)
{
	pid_t still = filling->remote->source.still;
	char *to = place(filling, part.begin);
	ssize_t got = 0;

	if (still != 0 && !origin->of_file)
		got =
		    mu_sys_vm_read(still, to, mu_range_size(part), part.begin);
	return got > 0 ? got
		       : mu_sys_pread(origin->file, to, mu_range_size(part),
			     part.begin + origin->offset);
}

/* A page that cannot be read is zero, and is counted once. */
static void
note_unread(const struct filling *filling, uintptr_t address, size_t size)
{
	struct mu_remote_memory *remote = filling->remote;
	const struct mu_remote_group *group = filling->group;
	size_t page = (address - group->range.begin) / remote->page_size;
	uint64_t bit = 1ull << page % 64;

	memset(place(filling, address), 0, size);
	if ((__atomic_fetch_or(
		 &group->unread[page / 64], bit, __ATOMIC_RELAXED) &
		bit) != 0)
		return;
	__atomic_fetch_add(&remote->memory->skipped_pages, 1, __ATOMIC_RELAXED);
	if (is_closed(remote, address))
		__atomic_fetch_add(
		    &remote->memory->closed_pages, 1, __ATOMIC_RELAXED);
}

static void
read_unknown(const struct filling *filling, struct mu_range part,
    const struct origin *origin)
{
	struct mu_remote_memory *remote = filling->remote;
	ssize_t got;

	while (part.begin < part.end) {
		got = read_some(filling, part, origin);
		if (got == -EINTR)
			continue;
		/*
		 * mem_rw() in fs/proc/base.c returns 0 if the process has no
		 * memory; a file at its end
		 */
		if (got == 0 && !origin->of_file)
			__atomic_store_n(&remote->gone, true, __ATOMIC_RELAXED);
		if (got <= 0) {
			got = (ssize_t)(remote->page_size -
			    part.begin % remote->page_size);
			if ((size_t)got > mu_range_size(part))
				got = (ssize_t)mu_range_size(part);
			note_unread(filling, part.begin, (size_t)got);
		}
		part.begin += (size_t)got;
		__atomic_fetch_add(
		    &remote->read, (size_t)got, __ATOMIC_RELAXED);
	}
}

static void
read_part(const struct filling *filling, struct mu_range part)
{
	struct mu_range front;
	size_t known;
	struct origin origin;

	while (part.begin < part.end) {
		known = copy_known(filling, part);
		if (known == 0) {
			front = unknown(filling, part, &origin);
			read_unknown(filling, front, &origin);
			known = mu_range_size(front);
		}
		part.begin += known;
	}
}

static bool
has_any(const struct filling *filling, const struct mu_mapping *mapping)
{
	return filling->kind == MU_REMOTE_WRITTEN ||
	    (mapping->inode != 0 && !mapping->shared && mapping->readable);
}

static bool
read_runs(const struct filling *filling, struct mu_range range)
{
	struct mu_range part;
	bool any = false;

	for (; range.begin < range.end &&
	     mu_remote_run(
		 filling->remote, filling->group, filling->kind, range, &part);
	     range.begin = part.end) {
		any = true;
		if (filling->remote->detached)
			break;
		read_part(filling, part);
	}
	return any;
}

/* Read RANGE mapping by mapping. Returns true if anything had to be read. */
static bool
read_range(const struct filling *filling, struct mu_range range)
{
	const struct mu_remote_memory *remote = filling->remote;
	const struct mu_mapping *mapping, *end;
	struct mu_range inside;
	bool any = false;

	mapping = mu_remote_mapping(remote, range.begin);
	end = remote->mappings + remote->num_mappings;
	for (; mapping != NULL && mapping < end &&
	     mapping->range.begin < range.end;
	     mapping++) {
		inside = mu_range_common(mapping->range, range);
		if (has_any(filling, mapping))
			any |= read_runs(filling, inside);
	}
	return any;
}

/*
 * True if the time is over or, at the rate so far, will be long before the
 * reading ends. Then the process need not stay stopped.
 */
static bool
is_late(struct mu_remote_memory *remote)
{
	uint64_t span = remote->until_ns - remote->begin_ns, passed, needed = 0;
	size_t read = __atomic_load_n(&remote->read, __ATOMIC_RELAXED);
	uint64_t now = mu_sys_now_ns();

	if (remote->deadline_ns != 0 && now >= remote->deadline_ns)
		__atomic_store_n(&remote->late, true, __ATOMIC_RELAXED);
	if (remote->until_ns == 0)
		return remote->late;
	passed = now - remote->begin_ns;
	if (read >= TRIAL)
		needed = (uint64_t)((double)passed / (double)read *
		    (double)remote->written);
	if (passed < span && needed < span + span / 2)
		return false;
	__atomic_store_n(&remote->needed_ns, needed, __ATOMIC_RELAXED);
	__atomic_store_n(&remote->late, true, __ATOMIC_RELAXED);
	return true;
}

/*
 * The first page from ADDRESS on that has to be read, or where the search
 * ended.
 */
static uintptr_t
next_wanted(const struct filling *filling, uintptr_t address)
{
	const struct mu_remote_memory *remote = filling->remote;
	const struct mu_mapping *mapping = mu_remote_mapping(remote, address);
	const struct mu_mapping *end = remote->mappings + remote->num_mappings;
	struct mu_range range = { address, filling->range.end }, part;

	if (mu_range_size(range) > AHEAD)
		range.end = address + AHEAD;
	for (; mapping != NULL && mapping < end &&
	     mapping->range.begin < range.end;
	     mapping++)
		if (has_any(filling, mapping) &&
		    mu_remote_run(remote, filling->group, filling->kind,
			mu_range_common(mapping->range, range), &part))
			return part.begin;
	return range.end;
}

/*
 * True if nothing of SLICE has to be read; then the next slice is one that has
 * something. The shadow memory of a sanitizer has 16 million slices.
 */
static bool
is_skipped(struct filling *filling, struct mu_range slice)
{
	uintptr_t wanted = next_wanted(filling, slice.begin);
	size_t to = (wanted - filling->range.begin) / SLICE;
	size_t next = __atomic_load_n(&filling->next, __ATOMIC_RELAXED);

	if (wanted < slice.end)
		return false;
	while (next < to &&
	    !__atomic_compare_exchange_n(&filling->next, &next, to, true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return true;
}

/* The body of a worker. */
static void
read_slices(void *ctx, unsigned worker)
{
	struct filling *filling = ctx;
	struct mu_range slice;
	size_t i, size = mu_range_size(filling->range);

	(void)worker;
	for (;;) {
		i = __atomic_fetch_add(&filling->next, 1, __ATOMIC_RELAXED);
		if (i * SLICE >= size || is_late(filling->remote))
			return;
		slice.begin = filling->range.begin + i * SLICE;
		slice.end = slice.begin +
		    (size - i * SLICE < SLICE ? size - i * SLICE : SLICE);
		if (!is_skipped(filling, slice))
			read_range(filling, slice);
	}
}

bool
mu_remote_fill(struct mu_remote_memory *remote, struct mu_remote_group *group,
    struct mu_range range, enum mu_remote_pages kind)
{
	struct filling filling = {
		.remote = remote,
		.group = group,
		.kind = kind,
		.to = group->base,
		.from = group->range.begin,
	};
	uint64_t *filled = group->filled[kind];
	uintptr_t begin = group->range.begin;
	size_t unit, stop, last, i;

	last = (range.end - 1 - begin) / MU_REMOTE_UNIT;
	for (unit = (range.begin - begin) / MU_REMOTE_UNIT; unit <= last;
	     unit = stop + 1) {
		for (stop = unit; stop <= last && !mu_bit(filled, stop);)
			stop++;
		if (stop == unit)
			continue;
		filling.range.begin = begin + unit * MU_REMOTE_UNIT;
		filling.range.end = begin + stop * MU_REMOTE_UNIT;
		if (filling.range.end > group->range.end)
			filling.range.end = group->range.end;
		if (remote->detached) {
			if (read_range(&filling, filling.range))
				return false;
			continue;
		}
		filling.next = 0;
		mu_workers_run(remote->workers,
		    (unsigned)(1 + mu_range_size(filling.range) / SLICE),
		    read_slices, &filling);
		for (i = unit; i < stop; i++)
			mu_bit_set(filled, i);
	}
	return true;
}

void
mu_remote_read(struct mu_remote_memory *remote, struct mu_remote_group *group,
    struct mu_range range, char *to)
{
	struct filling filling = {
		.remote = remote,
		.group = group,
		.kind = MU_REMOTE_WRITTEN,
		.to = to,
		.from = range.begin,
	};
	struct mu_range part;
	bool late = is_late(remote);

	if (late ||
	    !mu_remote_run(remote, group, MU_REMOTE_WRITTEN, range, &part) ||
	    mu_range_size(part) < mu_range_size(range))
		memset(to, 0, mu_range_size(range));
	if (late)
		return;
	read_range(&filling, range);
	filling.kind = MU_REMOTE_UNCHANGED;
	read_range(&filling, range);
}

bool
mu_remote_read_some(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range, char *to)
{
	const struct filling filling = {
		.remote = remote,
		.group = group,
		.kind = MU_REMOTE_WRITTEN,
		.to = to,
		.from = range.begin,
	};
	struct mu_range part;

	/* Larger reads check the time; this one only looks at LATE. */
	if (__atomic_load_n(&remote->late, __ATOMIC_RELAXED) ||
	    !mu_remote_run(remote, group, MU_REMOTE_WRITTEN, range, &part) ||
	    mu_range_size(part) < mu_range_size(range))
		return false;
	read_part(&filling, range);
	return true;
}
