/*
 * Mmapped chunks: see heapwalk/glibc_mmapped.h.
 *
 *	page	-> prev_size 0 | size | IS_MMAPPED	(a plain one)
 *	block	-> usable bytes, up to page + size
 *
 *	page	-> prev_size 0 | old size | IS_MMAPPED	(memalign'ed: stale)
 *	+ lead	-> prev_size lead | size | IS_MMAPPED
 *	block	-> usable bytes, up to page + lead + size
 *
 * The kernel joins mappings that touch, with each other and with foreign ones:
 * every page of anonymous memory can be the start.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_mmapped.h"

#include "heapwalk/classify.h"

#define SIZE 8 /* offset of the size word */

struct mmapped {
	uintptr_t base;  /* of the mapping */
	uintptr_t chunk; /* its header */
	size_t size;     /* of the chunk: ends with the mapping */
};

struct search {
	struct mu_glibc_walk *walk;
	size_t page;
	struct mmapped *found;
	size_t count, max, bytes;
};

/* Flags exactly IS_MMAPPED, all of it from BASE to END whole pages. */
static bool
is_header(const struct search *search, uintptr_t base, uintptr_t chunk,
    uintptr_t end, size_t *size)
{
	const char *view =
	    mu_snapshot_view(search->walk->snap, chunk, MU_GLIBC_HEADER);
	uintptr_t word;

	if (view == NULL || mu_glibc_word(view, 0) != chunk - base)
		return false;
	word = mu_glibc_word(view, SIZE);
	*size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	return (word & MU_SIZE_FLAGS) == MU_IS_MMAPPED &&
	    *size >= MU_GLIBC_MINSIZE && *size <= end - chunk &&
	    (chunk - base + *size) % search->page == 0;
}

static bool
is_lead(const struct search *search, uintptr_t base, uintptr_t chunk,
    uintptr_t end, struct mmapped *out)
{
	size_t size;

	if (!is_header(search, base, chunk, end, &size))
		return false;
	*out = (struct mmapped) { base, chunk, size };
	return true;
}

/*
 * The true header of a memalign'ed chunk, where _int_memalign() put it: for an
 * alignment up to a page, at the first multiple that leaves MINSIZE in front;
 * for a larger one at the end of a page, and of which is not known, as
 * mremap() may have moved the whole. It is inside the OLD size in any case.
 */
static bool
find_lead(const struct search *search, uintptr_t base, size_t old,
    uintptr_t end, struct mmapped *out)
{
	struct mu_memory *memory =
	    (struct mu_memory *)&search->walk->snap->memory;
	struct mu_range part,
	    rest = { base, old < end - base ? base + old : end };
	uintptr_t at;
	size_t lead;

	for (at = 32; at < search->page; at *= 2) {
		lead = at - MU_GLIBC_HEADER;
		if (lead < MU_GLIBC_MINSIZE)
			lead += at;
		if (is_lead(search, base, base + lead, end, out))
			return true;
	}
	for (; memory->ops->populated(memory, rest, &part);
	     rest.begin = part.end) {
		for (at = part.begin + search->page; at <= part.end;
		     at += search->page)
			if (is_lead(
				search, base, at - MU_GLIBC_HEADER, end, out))
				return true;
	}
	return false;
}

/* A chunk whose mapping starts at BASE, in a run of memory up to END. */
static bool
find_at(const struct search *search, uintptr_t base, uintptr_t end,
    struct mmapped *out)
{
	const char *view =
	    mu_snapshot_view(search->walk->snap, base, MU_GLIBC_HEADER);
	uintptr_t word;
	size_t size;

	if (view == NULL || mu_glibc_word(view, 0) != 0)
		return false;
	/* After mremap() the size of a stale header fits nothing. */
	word = mu_glibc_word(view, SIZE);
	if ((word & MU_SIZE_FLAGS) != MU_IS_MMAPPED ||
	    (word & ~(uintptr_t)MU_SIZE_FLAGS) % search->page != 0 ||
	    word < search->page)
		return false;
	if (find_lead(search, base, word & ~(uintptr_t)MU_SIZE_FLAGS, end, out))
		return true;
	if (!is_header(search, base, base, end, &size))
		return false;
	*out = (struct mmapped) { base, base, size };
	return true;
}

static bool
keep(struct search *search, struct mmapped one)
{
	size_t max = search->max ? 2 * search->max : 256;
	struct mmapped *grown;

	if (search->count == search->max) {
		grown = mu_arena_grow(search->walk->memory, search->found,
		    search->max, max, sizeof(*grown));
		if (grown == NULL)
			return false;
		search->found = grown;
		search->max = max;
	}
	search->found[search->count++] = one;
	search->bytes += one.chunk + one.size - one.base;
	return true;
}

/* A header is a page that was written: others are not even looked at. */
static bool
search_run(struct search *search, struct mu_range run)
{
	struct mu_memory *memory =
	    (struct mu_memory *)&search->walk->snap->memory;
	struct mu_range part, rest = run;
	struct mmapped one;
	uintptr_t at;

	while (rest.begin < rest.end &&
	    memory->ops->populated(memory, rest, &part)) {
		rest.begin = part.end;
		for (at = part.begin; at < part.end; at += search->page) {
			if (!find_at(search, at, run.end, &one))
				continue;
			if (!keep(search, one))
				return false;
			rest.begin = one.chunk + one.size;
			break;
		}
	}
	return true;
}

static bool
is_searched(const struct mu_mapping *mapping)
{
	return mu_mapping_is_anonymous(mapping) && mapping->readable &&
	    mapping->writable && !mu_mapping_is_named(mapping, "[heap]");
}

/* Anonymous memory that is neither a heap stretch nor our own. */
static bool
search_all(struct search *search, const struct mu_ranges *excluded)
{
	const struct mu_snapshot *snap = search->walk->snap;
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct mu_range run, gap;

	while (mapping < end) {
		run = mapping->range;
		if (!is_searched(mapping++))
			continue;
		for (; mapping < end && mapping->range.begin == run.end &&
		     is_searched(mapping);
		     mapping++)
			run.end = mapping->range.end;
		while (mu_ranges_gap(excluded, &run, &gap)) {
			gap.begin += search->page - 1;
			gap.begin -= gap.begin % search->page;
			if (gap.begin < gap.end && !search_run(search, gap))
				return false;
		}
	}
	return true;
}

static enum mu_status
add_all(struct search *search, struct mu_ranges *owned, bool unsure)
{
	struct mu_glibc_walk *walk = search->walk;
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; status == MU_OK && i < search->count; i++) {
		const struct mmapped *one = &search->found[i];
		struct mu_range block = { one->chunk + MU_GLIBC_HEADER,
			one->chunk + one->size };

		status = mu_blocks_add(&walk->heap->blocks, block,
		    mu_snapshot_view(
			walk->snap, block.begin, mu_range_size(block)),
		    unsure);
		if (status == MU_OK && !unsure &&
		    !mu_ranges_add(
			owned, (struct mu_range) { one->base, block.end }))
			status = MU_ERR_NO_MEMORY;
	}
	return status == MU_OK ? MU_OK : mu_glibc_no_memory(walk);
}

enum mu_status
mu_glibc_mmapped_list(struct mu_glibc_walk *walk, struct mu_ranges *owned)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	struct search search = { .walk = walk,
		.page = walk->snap->memory.page_size };
	int count = mu_glibc_int(walk, walk->glibc.mp + layout->par_n_mmaps);
	size_t bytes =
	    mu_glibc_arena_word(walk, walk->glibc.mp, layout->par_mmapped_mem);
	struct mu_ranges excluded;
	enum mu_status status;
	bool agrees;

	mu_ranges_open(&excluded, walk->memory);
	if (!mu_ranges_add_all(
		&excluded, walk->stretches.items, walk->stretches.count) ||
	    !mu_ranges_add_all(&excluded, walk->snap->own, walk->snap->num_own))
		return mu_glibc_no_memory(walk);
	mu_ranges_seal(&excluded);
	if (!search_all(&search, &excluded))
		return mu_glibc_no_memory(walk);

	agrees = search.count == (size_t)count && search.bytes == bytes;
	status = add_all(&search, owned, !agrees);
	if (status != MU_OK || agrees)
		return status;
	/* munmap_chunk() counts down before it unmaps, without a lock. */
	walk->heap->transient = true;
	return mu_why(walk->why, MU_PARTIAL,
	    "%zu mmapped chunks (%zu bytes) were seen, but n_mmaps is %d and "
	    "mmapped_mem %zu: none of them can be reported",
	    search.count, search.bytes, count, bytes);
}
