/*
 * Find malloc's memory after memory that other code took by sbrk(): see
 * heapwalk/heaps/glibc/stretch.h.
 *
 *   chunks, fenceposts | the other memory | chunks ... top
 *
 * Nothing records where malloc's memory continues. A chain of chunks that ends
 * at top (or at fenceposts) starts there, and may seem to start earlier: the
 * other memory can look like chunks that lead into the real ones, from the
 * start of a page and without a gap. The sums do not help either: a contiguous
 * arena counts the hole as its memory (sysmalloc(): "Count foreign sbrk as
 * system_mem").
 *
 * So a chain is trusted only from its first chunk that is in one of the arena's
 * bins, since only malloc puts chunks there. The part before that is neither a
 * block nor a leak, but a root; its bytes are counted.
 */
#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/stretch.h"

struct foreign {
	struct mu_glibc_walk *walk;
	const struct mu_glibc_main *main;
	struct mu_range limit; /* range of the search */
	const char *view;
	uintptr_t begin; /* end of the proven memory */
	uint64_t *seen;
	struct mu_glibc_chain chain;
};

static uint64_t *
new_bits(struct foreign *foreign)
{
	return mu_arena_alloc(foreign->walk->memory,
	    mu_range_size(foreign->limit) / MU_GRAIN / 64 + 1,
	    sizeof(uint64_t));
}

/*
 * The first address from FROM on at which a chain starts that reaches an end;
 * or 0.
 */
static uintptr_t
next_candidate(struct foreign *foreign, uintptr_t from)
{
	struct mu_glibc_probe probe = { .seen = foreign->seen,
		.budget = SIZE_MAX };
	uintptr_t at;

	for (at = from; at < foreign->limit.end &&
	     foreign->limit.end - at >= MU_GLIBC_MINSIZE;
	     at += MU_GRAIN) {
		if (mu_glibc_word(
			foreign->view, at - foreign->limit.begin + 8) == 0)
			continue;
		if (at != foreign->main->top &&
		    !mu_glibc_chunk_plausible(
			foreign->limit, foreign->view, at))
			continue;
		if (mu_glibc_chain_probe(
			foreign->walk, &foreign->chain, &probe, at))
			return at;
	}
	return 0;
}

/*
 * The chain at AT ends at END. Returns the address from which on it certainly
 * is malloc's; END if there is none.
 */
static uintptr_t
believed_from(struct foreign *foreign, uintptr_t at, uintptr_t end)
{
	struct mu_range range = { at, end };
	uintptr_t proven = mu_glibc_free_lowest(foreign->walk, range);

	if (proven != 0)
		return proven;
	return mu_range_has(range, foreign->main->top) ? foreign->main->top
						       : end;
}

/* The search ends with the region or at top. */
static bool
open_foreign(struct foreign *foreign, uintptr_t end)
{
	uintptr_t begin = (end + MU_GRAIN - 1) & ~(uintptr_t)(MU_GRAIN - 1);

	foreign->begin = begin;
	foreign->limit = (struct mu_range) { begin, foreign->main->region.end };
	if (foreign->limit.end <= begin ||
	    foreign->limit.end - begin < MU_GLIBC_MINSIZE)
		return false;
	foreign->view = mu_snapshot_view(
	    foreign->walk->snap, begin, mu_range_size(foreign->limit));
	foreign->chain = (struct mu_glibc_chain) {
		.limit = foreign->limit,
		.view = foreign->view,
		.top = foreign->main->top,
		.main = true,
	};
	return foreign->view != NULL;
}

enum mu_status
mu_glibc_foreign_sbrk_cross(struct mu_glibc_walk *walk,
    struct mu_glibc_main *main, uintptr_t end, struct mu_glibc_chain *chain)
{
	struct foreign foreign = { .walk = walk, .main = main };
	uintptr_t at, stop, from;
	struct mu_range doubt;

	*chain = (struct mu_glibc_chain) { .limit = { end, end } };
	if (!open_foreign(&foreign, end))
		return MU_OK;
	foreign.seen = new_bits(&foreign);
	if (foreign.seen == NULL)
		return mu_glibc_no_memory(walk);
	for (at = foreign.begin;; at = stop) {
		at = next_candidate(&foreign, at);
		if (at == 0)
			return MU_OK;
		/* Top is a header; nothing after it is searched. */
		stop = foreign.chain.end == main->top ? main->top + 1
						      : foreign.chain.end;
		from = believed_from(&foreign, at, stop);
		doubt = (struct mu_range) { at, from };
		main->maybe += mu_range_size(doubt);
		if (!mu_ranges_add(&walk->unproven, doubt))
			return mu_glibc_no_memory(walk);
		if (from < stop)
			break;
	}
	chain->limit = (struct mu_range) { from, foreign.limit.end };
	return MU_OK;
}
