/*
 *	page	-> prev_size 0 | size | IS_MMAPPED	(a plain one)
 *	block	-> usable bytes, up to page + size
 *
 *	page	-> prev_size 0 | old size | IS_MMAPPED	(memalign'ed: stale)
 *	+ lead	-> prev_size lead | size | IS_MMAPPED
 *	block	-> usable bytes, up to page + lead + size
 *
 * From 2.43 on the sizes leave out the mapping's last 16 bytes, of which 8 are
 * usable, and bit 0 of prev_size says that the pages are huge.
 *
 * The kernel joins mappings that touch, with each other and with foreign ones:
 * every page of anonymous memory can be the start.
 */
#include "heapwalk/heaps/glibc/mmapped.h"

#include "heapwalk/heaps/glibc/mmapped_sums.h"
#include "heapwalk/heaps/glibc/usage.h"
#include "heapwalk/subject/classify.h"
#include "mu/bisect.h"
#include "mu/sort.h"

#define SIZE 8 /* offset of the size word */
#define HUGE 1 /* bit of prev_size */

struct search {
	struct mu_glibc_walk *walk;
	size_t page, tail;
	const struct mu_ranges *excluded;
	bool nested; /* look inside of found chunks, too */

	/*
	 * Accept any protection, and inaccessible mappings up to this many
	 * bytes.
	 */
	bool protected;
	size_t most;
};

static size_t
whole_size(const struct search *search, const struct mu_glibc_mmapped *one)
{
	return one->chunk - one->base + one->size + search->tail;
}

/* True if the word at CHUNK is its distance from BASE. */
static bool
is_lead_of(const struct search *search, const char *view, size_t lead)
{
	uintptr_t word = mu_glibc_word(view, 0);

	return word == lead || (search->tail != 0 && word == (lead | HUGE));
}

/*
 * True if the only flag is IS_MMAPPED and the chunk from BASE to END has whole
 * pages.
 */
static bool
is_header(const struct search *search, uintptr_t base, uintptr_t chunk,
    uintptr_t end, struct mu_glibc_mmapped *out)
{
	const char *view =
	    mu_snapshot_view(search->walk->snap, chunk, MU_GLIBC_HEADER);
	uintptr_t word;

	if (view == NULL || !is_lead_of(search, view, chunk - base))
		return false;
	word = mu_glibc_word(view, SIZE);
	*out = (struct mu_glibc_mmapped) { .base = base,
		.chunk = chunk,
		.size = word & ~(uintptr_t)MU_SIZE_FLAGS };
	return (word & MU_SIZE_FLAGS) == MU_IS_MMAPPED &&
	    out->size >= MU_GLIBC_MINSIZE && out->size <= end - chunk &&
	    search->tail <= end - chunk - out->size &&
	    whole_size(search, out) % search->page == 0;
}

/*
 * Find the true header of a memalign'ed chunk, where _int_memalign() put it:
 * for an alignment up to a page, at the first multiple (that leaves MINSIZE in
 * front, up to 2.42); for a larger one, at the end of some page, as mremap()
 * may have moved the chunk. In any case it is inside the OLD size.
 */
static bool
find_lead(const struct search *search, uintptr_t base, size_t old,
    uintptr_t end, struct mu_glibc_mmapped *out)
{
	struct mu_memory *memory =
	    (struct mu_memory *)&search->walk->snap->memory;
	struct mu_range part,
	    rest = { base, old < end - base ? base + old : end };
	uintptr_t at;
	size_t lead;

	for (at = 32; at < search->page; at *= 2) {
		lead = at - MU_GLIBC_HEADER;
		if (lead < MU_GLIBC_MINSIZE && search->tail == 0)
			lead += at;
		if (is_header(search, base, base + lead, end, out))
			return true;
	}
	for (; memory->ops->populated(memory, rest, &part);
	     rest.begin = part.end) {
		for (at = part.begin + search->page; at <= part.end;
		     at += search->page)
			if (is_header(
				search, base, at - MU_GLIBC_HEADER, end, out))
				return true;
	}
	return false;
}

/* Find a chunk whose mapping starts at BASE, in a run of memory up to END. */
static bool
find_at(const struct search *search, uintptr_t base, uintptr_t end,
    struct mu_glibc_mmapped *out)
{
	const char *view =
	    mu_snapshot_view(search->walk->snap, base, MU_GLIBC_HEADER);
	uintptr_t word;
	size_t old;

	if (view == NULL || !is_lead_of(search, view, 0))
		return false;
	/* After mremap() the size in a stale header is wrong. */
	word = mu_glibc_word(view, SIZE);
	old = word & ~(uintptr_t)MU_SIZE_FLAGS;
	if ((word & MU_SIZE_FLAGS) != MU_IS_MMAPPED ||
	    (old + search->tail) % search->page != 0 ||
	    old + search->tail < search->page)
		return false;
	return find_lead(search, base, old, end, out) ||
	    is_header(search, base, base, end, out);
}

static bool
keep(struct search *search, struct mu_glibc_mmapped one)
{
	struct mu_glibc_walk *walk = search->walk;

	if (!mu_arena_room(walk->memory, walk->mmapped, walk->num_mmapped,
		walk->max_mmapped, 256))
		return false;
	walk->mmapped[walk->num_mmapped++] = one;
	walk->mmapped_bytes += whole_size(search, &one);
	return true;
}

/* The page of a header was written; skip other pages. */
static bool
search_run(struct search *search, struct mu_range run)
{
	struct mu_memory *memory =
	    (struct mu_memory *)&search->walk->snap->memory;
	struct mu_range part, rest = run;
	struct mu_glibc_mmapped one;
	uintptr_t at;

	while (rest.begin < rest.end &&
	    memory->ops->populated(memory, rest, &part)) {
		rest.begin = part.end;
		for (at = part.begin; at < part.end; at += search->page) {
			if (!find_at(search, at, run.end, &one))
				continue;
			if (!keep(search, one))
				return false;
			if (search->nested)
				continue;
			rest.begin = one.base + whole_size(search, &one);
			break;
		}
	}
	return true;
}

static bool
is_searched(const struct search *search, const struct mu_mapping *mapping)
{
	if (!mu_mapping_is_anonymous(mapping) ||
	    mu_mapping_is_named(mapping, "[heap]"))
		return false;
	if (mapping->readable && mapping->writable)
		return true;
	return search->protected &&
	    (mapping->readable ||
		mu_range_size(mapping->range) <= search->most);
}

/* Search anonymous memory that is neither heap nor our own. */
static bool
search_all(struct search *search)
{
	const struct mu_snapshot *snap = search->walk->snap;
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct mu_range run, gap;

	while (mapping < end) {
		run = mapping->range;
		if (!is_searched(search, mapping++))
			continue;
		for (; mapping < end && mapping->range.begin == run.end &&
		     is_searched(search, mapping);
		     mapping++)
			run.end = mapping->range.end;
		while (mu_ranges_gap(search->excluded, &run, &gap)) {
			gap.begin += search->page - 1;
			gap.begin -= gap.begin % search->page;
			if (gap.begin < gap.end && !search_run(search, gap))
				return false;
		}
	}
	return true;
}

/*
 * Each mremap_chunk() of 2.43 leaves 16 bytes in mmapped_mem that belong to no
 * chunk; the number of calls is not known.
 */
static bool
agrees(const struct search *search, int count, size_t bytes)
{
	const struct mu_glibc_walk *walk = search->walk;

	if (walk->num_mmapped != (size_t)count)
		return false;
	if (search->tail == 0)
		return walk->mmapped_bytes == bytes;
	return walk->mmapped_bytes <= bytes &&
	    (bytes - walk->mmapped_bytes) % search->tail == 0;
}

static int
by_chunk(const void *a, const void *b)
{
	const struct mu_glibc_mmapped *left = a, *right = b;

	return (left->chunk > right->chunk) - (left->chunk < right->chunk);
}

/*
 * Remove candidates that are not chunks, and uncertain ones that overlap
 * others.
 */
static size_t
drop_others(
    struct mu_glibc_walk *walk, const struct mu_glibc_candidate *candidates)
{
	size_t i, kept = 0, unsure = 0;
	uintptr_t end = 0;

	for (i = 0; i < walk->num_mmapped; i++) {
		if (candidates[i].out ||
		    (candidates[i].unsure && candidates[i].whole.begin < end))
			continue;
		end = candidates[i].whole.end;
		walk->mmapped[kept] = walk->mmapped[i];
		walk->mmapped[kept++].unsure = candidates[i].unsure;
		unsure += candidates[i].unsure;
	}
	walk->num_mmapped = kept;
	mu_sort(walk->mmapped, kept, sizeof(*walk->mmapped), by_chunk);
	return unsure;
}

/*
 * There are too many candidates: look at every page and compare with the
 * counters. *UNSURE receives the number of uncertain ones. Returns false if
 * nothing was found out; WALK's list is unchanged then.
 */
static bool
single_out(struct search *search, int count, size_t bytes, size_t *unsure)
{
	struct mu_glibc_walk *walk = search->walk, before = *walk;
	struct mu_glibc_candidate *candidates = NULL;
	bool done;
	size_t i;

	/* If the drift is not known, every set matches. */
	if (search->tail != 0 || count < 0)
		return false;
	walk->mmapped = NULL;
	walk->num_mmapped = walk->max_mmapped = walk->mmapped_bytes = 0;
	search->nested = true;
	done = search_all(search);
	if (done)
		candidates = mu_arena_alloc(
		    walk->memory, walk->num_mmapped + 1, sizeof(*candidates));
	for (i = 0; candidates != NULL && i < walk->num_mmapped; i++)
		candidates[i].whole = (struct mu_range) {
			walk->mmapped[i].base,
			walk->mmapped[i].base +
			    whole_size(search, &walk->mmapped[i]),
		};
	done = candidates != NULL &&
	    mu_glibc_mmapped_solve(candidates, walk->num_mmapped, (size_t)count,
		bytes, walk->memory);
	if (done)
		*unsure = drop_others(walk, candidates);
	else
		*walk = before;
	return done;
}

/*
 * The counters do not agree: look for missing chunks in pages that the program
 * has protected. An inaccessible mapping of more than BYTES is not part of an
 * mmapped chunk. On false WALK's list is unchanged.
 */
static bool
find_protected(struct search *search, int count, size_t bytes)
{
	struct mu_glibc_walk *walk = search->walk, before = *walk;
	const struct mu_mapping *mapping = walk->snap->mappings;
	const struct mu_mapping *end = mapping + walk->snap->num_mappings;
	bool found;

	search->protected = true;
	search->most = bytes;
	for (; mapping < end; mapping++)
		if (!mapping->readable && is_searched(search, mapping))
			mu_snapshot_unlock(walk->snap, mapping->range);
	walk->mmapped = NULL;
	walk->num_mmapped = walk->max_mmapped = walk->mmapped_bytes = 0;
	found = search_all(search) && agrees(search, count, bytes);
	if (!found)
		*walk = before;
	search->protected = found;
	return found;
}

/* The counters do not agree: find out which candidates were counted. */
static enum mu_status
doubt(struct search *search, int count, size_t bytes)
{
	struct mu_glibc_walk *walk = search->walk;
	size_t seen = walk->num_mmapped, seen_bytes = walk->mmapped_bytes;
	size_t unsure = seen, i;

	if (single_out(search, count, bytes, &unsure) && unsure == 0)
		return MU_OK;
	for (i = 0; unsure == seen && i < seen; i++)
		walk->mmapped[i].unsure = true;
	/*
	 * munmap_chunk() decrements the counters before it unmaps, without a
	 * lock.
	 */
	walk->heap->transient = true;
	return mu_why(walk->why, MU_PARTIAL,
	    "%zu mmapped chunks (%zu bytes) were seen, but n_mmaps is %d and "
	    "mmapped_mem %zu: %s%zu of them were not checked",
	    seen, seen_bytes, count, bytes,
	    count > 0 && seen < (size_t)count ? "those missing and " : "",
	    unsure);
}

enum mu_status
mu_glibc_mmapped_find(struct mu_glibc_walk *walk)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	struct search search = { .walk = walk,
		.page = walk->snap->memory.page_size,
		.tail = layout->mmapped_tail };
	int count = mu_glibc_int(walk, walk->glibc.mp + layout->par_n_mmaps);
	size_t bytes =
	    mu_glibc_arena_word(walk, walk->glibc.mp, layout->par_mmapped_mem);
	struct mu_ranges excluded;

	mu_ranges_open(&excluded, walk->memory);
	if (!mu_ranges_add_all(
		&excluded, walk->stretches.items, walk->stretches.count) ||
	    !mu_ranges_add_all(&excluded, walk->snap->own, walk->snap->num_own))
		return mu_glibc_no_memory(walk);
	mu_ranges_seal(&excluded);
	search.excluded = &excluded;
	if (!search_all(&search))
		return mu_glibc_no_memory(walk);
	return agrees(&search, count, bytes) ||
		find_protected(&search, count, bytes)
	    ? MU_OK
	    : doubt(&search, count, bytes);
}

struct mu_glibc_mmapped *
mu_glibc_mmapped_at(const struct mu_glibc_walk *walk, uintptr_t block)
{
	size_t low = 0;
	uintptr_t chunk = block - MU_GLIBC_HEADER;

	mu_bisect(low, walk->num_mmapped, i, walk->mmapped[i].chunk < chunk);
	if (low == walk->num_mmapped || walk->mmapped[low].chunk != chunk)
		return NULL;
	return &walk->mmapped[low];
}

static enum mu_status
list_one(struct mu_glibc_walk *walk, const struct mu_glibc_mmapped *one,
    struct mu_ranges *owned)
{
	size_t tail = walk->glibc.layout->mmapped_tail;
	struct mu_range whole = { one->base, one->chunk + one->size + tail };
	struct mu_range block = { one->chunk + MU_GLIBC_HEADER,
		one->chunk + one->size + tail / 2 };
	enum mu_status status = MU_OK;

	mu_glibc_usage_mmapped(
	    walk, one, mu_range_size(whole), mu_range_size(block));
	if (!one->cached)
		status = mu_blocks_add(&walk->heap->blocks, block,
		    mu_snapshot_view(
			walk->snap, block.begin, mu_range_size(block)),
		    one->unsure);
	if (status == MU_OK && !one->unsure && !mu_ranges_add(owned, whole))
		status = MU_ERR_NO_MEMORY;
	return status;
}

enum mu_status
mu_glibc_mmapped_list(struct mu_glibc_walk *walk, struct mu_ranges *owned)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; status == MU_OK && i < walk->num_mmapped; i++)
		status = list_one(walk, &walk->mmapped[i], owned);
	return status == MU_OK ? MU_OK : mu_glibc_no_memory(walk);
}
