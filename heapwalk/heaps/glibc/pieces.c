/*
 * The main arena in anonymous memory: see heapwalk/heaps/glibc/stretch.h.
 *
 * If brk fails, the arena gets a piece by mmap, of any number of pages. (The
 * minimum of 1 MiB is not effective in 2.35 and later, where sysmalloc() passes
 * it to sysmalloc_mmap_fallback() as the page size.) Nothing lists these
 * pieces. Each starts at a page and is a chain of chunks up to fenceposts, the
 * last one up to top. A buffer of the program can look like such a chain, so
 * the pieces together must have exactly the bytes that system_mem counts in
 * addition. If that sum is not known, because of a foreign sbrk(), a piece
 * counts from its first chunk that is in one of the arena's bins, as after a
 * hole.
 */
#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/stretch.h"
#include "heapwalk/subject/classify.h"

#define BUDGET ((size_t)256 << 20) /* chunks visited, in all */

struct search {
	struct mu_glibc_walk *walk;
	struct mu_glibc_main *main;
	struct mu_glibc_probe probe;
	struct mu_range *pieces;
	size_t num_pieces, max_pieces, bytes;
	bool protected; /* accept memory of any protection */
};

/*
 * The end of the piece that starts at AT, in a run of memory up to END; 0 if
 * none starts there.
 */
static uintptr_t
piece_end(struct search *search, uintptr_t at, uintptr_t end)
{
	const struct mu_glibc_main *main = search->main;
	struct mu_glibc_chain chain = { .main = true, .top = main->top };
	uintptr_t word;

	if (end - at > main->system_mem)
		end = at + main->system_mem;
	chain.limit = (struct mu_range) { at, end };
	if (mu_range_size(chain.limit) < MU_GLIBC_MINSIZE)
		return 0;
	chain.view = mu_snapshot_view(search->walk->snap, at, end - at);
	/* It is new memory, and its prev_size is never written. */
	if (chain.view == NULL || mu_glibc_word(chain.view, 0) != 0 ||
	    mu_ranges_has(&search->walk->stretches, at))
		return 0;
	if (!mu_glibc_chain_probe(search->walk, &chain, &search->probe, at))
		return 0;
	if (chain.end == main->top) {
		word = mu_glibc_word(chain.view, main->top - at + 8);
		chain.end += word & ~(uintptr_t)MU_SIZE_FLAGS;
	}
	return chain.end > end ? 0 : chain.end;
}

static enum mu_status
keep_piece(struct search *search, struct mu_range piece)
{
	if (!mu_arena_room(search->walk->memory, search->pieces,
		search->num_pieces, search->max_pieces, 64))
		return mu_glibc_no_memory(search->walk);
	search->pieces[search->num_pieces++] = piece;
	search->bytes += mu_range_size(piece);
	return MU_OK;
}

static enum mu_status
search_run(struct search *search, struct mu_range run)
{
	struct mu_memory *memory =
	    (struct mu_memory *)&search->walk->snap->memory;
	struct mu_range part, rest = run, piece;
	enum mu_status status;

	while (rest.begin < rest.end &&
	    memory->ops->populated(memory, rest, &part)) {
		rest.begin = part.end;
		for (piece.begin = part.begin; piece.begin < part.end;
		     piece.begin += memory->page_size) {
			piece.end = piece_end(search, piece.begin, run.end);
			if (piece.end == 0)
				continue;
			status = keep_piece(search, piece);
			if (status != MU_OK)
				return status;
			rest.begin = piece.end;
			break;
		}
	}
	return MU_OK;
}

/* madvise() and mprotect() can split a piece into two mappings. */
static bool
is_searched(const struct search *search, const struct mu_mapping *mapping)
{
	if (!mu_mapping_is_anonymous(mapping) ||
	    mu_mapping_is_named(mapping, "[heap]") ||
	    mu_mapping_is_named(mapping, "[stack"))
		return false;
	if (mapping->readable && mapping->writable)
		return true;
	return search->protected &&
	    (mapping->readable ||
		mu_range_size(mapping->range) <= search->main->system_mem);
}

static enum mu_status
search_all(struct search *search)
{
	const struct mu_snapshot *snap = search->walk->snap;
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	enum mu_status status = MU_OK;
	struct mu_range run;

	while (status == MU_OK && mapping < end) {
		run = mapping->range;
		if (!is_searched(search, mapping++))
			continue;
		for (; mapping < end && mapping->range.begin == run.end &&
		     is_searched(search, mapping);
		     mapping++)
			run.end = mapping->range.end;
		if (search->protected)
			mu_snapshot_unlock(snap, run);
		status = search_run(search, run);
	}
	return status;
}

/* If the sum is not met: search again, for pieces with protected pages. */
static enum mu_status
search_protected(struct search *search)
{
	search->num_pieces = search->bytes = 0;
	search->probe.budget = BUDGET;
	search->protected = true;
	return search_all(search);
}

/* Shorten PIECE to the part that certainly is malloc's. */
static bool
doubt(struct search *search, struct mu_range *piece)
{
	struct mu_glibc_main *main = search->main;
	uintptr_t proven = mu_glibc_free_lowest(search->walk, *piece);
	struct mu_range rest;

	if (proven == 0)
		proven =
		    mu_range_has(*piece, main->top) ? main->top : piece->end;
	rest = (struct mu_range) { piece->begin, proven };
	main->maybe += mu_range_size(rest);
	piece->begin = proven;
	return mu_ranges_add(&search->walk->unproven, rest);
}

static enum mu_status
take(struct search *search, struct mu_range piece)
{
	struct mu_glibc_walk *walk = search->walk;
	struct mu_glibc_main *main = search->main;
	struct mu_glibc_chain chain = { .limit = piece, .main = true };
	enum mu_status status;

	chain.view =
	    mu_snapshot_view(walk->snap, piece.begin, mu_range_size(piece));
	if (mu_range_has(piece, main->top))
		chain.top = main->top;
	status = mu_glibc_chains_walk(walk, &chain, 1);
	if (status != MU_OK)
		return status;
	main->bytes += mu_range_size(piece);
	main->num_pieces++;
	if (chain.top != 0)
		main->saw_top = true;
	return mu_ranges_add(&walk->stretches, piece)
	    ? MU_OK
	    : mu_glibc_no_memory(walk);
}

enum mu_status
mu_glibc_pieces_take(struct mu_glibc_walk *walk, struct mu_glibc_main *main)
{
	struct search search = { .walk = walk,
		.main = main,
		.probe = { .budget = BUDGET, .scattered = true } };
	bool unsure = main->maybe > 0;
	struct mu_range piece;
	enum mu_status status;
	size_t i;

	mu_ranges_seal(&walk->stretches);
	status = search_all(&search);
	if (status == MU_OK && !unsure &&
	    !mu_glibc_main_adds_up(main, search.bytes))
		status = search_protected(&search);
	if (status == MU_OK && !unsure &&
	    !mu_glibc_main_adds_up(main, search.bytes))
		status = mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: brk gave %zu bytes and mmap %zu (%zu pieces), "
		    "system_mem is %zu",
		    (void *)main->arena, main->bytes, search.bytes,
		    search.num_pieces, main->system_mem);
	for (i = 0; status == MU_OK && i < search.num_pieces; i++) {
		piece = search.pieces[i];
		if (unsure && !doubt(&search, &piece))
			status = mu_glibc_no_memory(walk);
		else if (mu_range_size(piece) > 0)
			status = take(&search, piece);
	}
	return status;
}
