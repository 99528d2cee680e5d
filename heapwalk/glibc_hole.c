/*
 * Past memory that somebody else took by sbrk(): see heapwalk/glibc_stretch.h.
 *
 *	chunks, fenceposts | the other one's memory | chunks ... top
 *
 * Nothing says where malloc's memory goes on. A chain of chunks that comes to
 * an end at top (or at fenceposts) starts there, and may start earlier: what
 * the other one keeps there can look like chunks that run into the real ones.
 * It is not decided by hope. A chain is believed from its first byte only if
 * - nothing in the hole before it looks like a chunk at all, and the hole is
 *   not empty while the arena is contiguous (then top would have grown);
 * - its first word, the prev_size that nobody writes, is zero, as in fresh
 *   memory;
 * - it starts a page, as what sbrk() gives mostly does, or no chunk behind it
 *   could be the first one as well.
 * Else it is believed from its first chunk on that is in one of the arena's
 * bins. What is before that is no block and no leak, but a root.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_free.h"
#include "heapwalk/glibc_stretch.h"

struct hole {
	struct mu_glibc_walk *walk;
	const struct mu_glibc_main *main;
	struct mu_range limit; /* of the search */
	const char *view;
	uintptr_t begin; /* behind what was proven last */
	bool dirty;      /* holds what looks like a chunk */
	uint64_t *seen;
	struct mu_glibc_chain chain;
};

static uint64_t *
new_bits(struct hole *hole)
{
	return mu_arena_alloc(hole->walk->memory,
	    mu_range_size(hole->limit) / MU_GRAIN / 64 + 1, sizeof(uint64_t));
}

/* The first address from FROM on where a chain starts that ends; or 0. */
static uintptr_t
next_candidate(struct hole *hole, uintptr_t from)
{
	struct mu_glibc_probe probe = { .seen = hole->seen,
		.budget = SIZE_MAX };
	uintptr_t at;

	for (at = from;
	     at < hole->limit.end && hole->limit.end - at >= MU_GLIBC_MINSIZE;
	     at += MU_GRAIN) {
		if (mu_glibc_word(hole->view, at - hole->limit.begin + 8) == 0)
			continue;
		if (at != hole->main->top &&
		    !mu_glibc_chunk_plausible(hole->limit, hole->view, at))
			continue;
		if (mu_glibc_chain_probe(hole->walk, &hole->chain, &probe, at))
			return at;
		hole->dirty = true;
	}
	return 0;
}

/*
 * Could the piece as well start behind FROM, at TO at the latest? There would
 * be another chain, or the same one from there on.
 */
static bool
has_other_start(struct hole *hole, uintptr_t from, uintptr_t to)
{
	struct mu_glibc_probe probe = { .seen = new_bits(hole),
		.budget = SIZE_MAX };
	uintptr_t at, last = hole->limit.end - MU_GLIBC_MINSIZE;

	if (probe.seen == NULL)
		return true;
	mu_glibc_chain_probe(hole->walk, &hole->chain, &probe, from);
	probe.goal = probe.seen;
	probe.seen = NULL;
	probe.budget = 2 * mu_range_size(hole->limit);
	for (at = from + MU_GRAIN; at <= to && at <= last; at += MU_GRAIN) {
		if (mu_glibc_word(hole->view, at - hole->limit.begin) != 0 ||
		    (at != hole->main->top &&
			!mu_glibc_chunk_plausible(hole->limit, hole->view, at)))
			continue;
		if (mu_glibc_chain_probe(
			hole->walk, &hole->chain, &probe, at) ||
		    probe.budget == 0)
			return true;
	}
	return false;
}

/* Is the chain from AT malloc's from its first byte? PROVEN is known to be. */
static bool
is_ordinary(struct hole *hole, uintptr_t at, uintptr_t proven)
{
	if (at == proven)
		return true;
	if (hole->dirty || (at == hole->begin && hole->main->contiguous) ||
	    mu_glibc_word(hole->view, at - hole->limit.begin) != 0)
		return false;
	return at % hole->walk->snap->memory.page_size == 0 ||
	    !has_other_start(hole, at, proven);
}

/*
 * The chain at AT ends at END: from where on is it malloc's? END if nothing
 * of it is for certain.
 */
static uintptr_t
believed_from(struct hole *hole, uintptr_t at, uintptr_t end)
{
	struct mu_range range = { at, end };
	uintptr_t proven = mu_glibc_free_lowest(hole->walk, range);

	if (proven == 0)
		proven = mu_range_has(range, hole->main->top) ? hole->main->top
							      : end;
	return is_ordinary(hole, at, proven) ? at : proven;
}

/* The search goes as far as the region, or as far as top. */
static bool
open_hole(struct hole *hole, uintptr_t end)
{
	uintptr_t begin = (end + MU_GRAIN - 1) & ~(uintptr_t)(MU_GRAIN - 1);

	hole->begin = begin;
	hole->limit = (struct mu_range) { begin, hole->main->region.end };
	if (hole->limit.end <= begin ||
	    hole->limit.end - begin < MU_GLIBC_MINSIZE)
		return false;
	hole->view = mu_snapshot_view(
	    hole->walk->snap, begin, mu_range_size(hole->limit));
	hole->chain = (struct mu_glibc_chain) {
		.limit = hole->limit,
		.view = hole->view,
		.top = hole->main->top,
		.main = true,
	};
	return hole->view != NULL;
}

enum mu_status
mu_glibc_hole_cross(struct mu_glibc_walk *walk, struct mu_glibc_main *main,
    uintptr_t end, struct mu_glibc_chain *chain)
{
	struct hole hole = { .walk = walk, .main = main };
	uintptr_t at, stop, from;
	struct mu_range doubt;

	*chain = (struct mu_glibc_chain) { .limit = { end, end } };
	if (!open_hole(&hole, end))
		return MU_OK;
	hole.seen = new_bits(&hole);
	if (hole.seen == NULL)
		return mu_glibc_no_memory(walk);
	for (at = hole.begin;; at = stop) {
		at = next_candidate(&hole, at);
		if (at == 0)
			return MU_OK;
		/* Top is a header; what is behind it needs no search. */
		stop = hole.chain.end == main->top ? main->top + 1
						   : hole.chain.end;
		from = believed_from(&hole, at, stop);
		doubt = (struct mu_range) { at, from };
		main->maybe += mu_range_size(doubt);
		if (!mu_ranges_add(&walk->unproven, doubt))
			return mu_glibc_no_memory(walk);
		if (from < stop)
			break;
		hole.dirty = true;
	}
	chain->limit = (struct mu_range) { from, hole.limit.end };
	return MU_OK;
}
