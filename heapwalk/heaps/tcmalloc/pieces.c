#include "heapwalk/heaps/tcmalloc/pieces.h"

#include "heapwalk/heaps/listing.h"
#include "heapwalk/subject/classify.h"

/* Static::InitStaticVars(): two Spans are not used. */
#define SPARE_SPANS 2

struct search {
	const struct mu_tc_walk *walk;
	size_t size, used;
	struct mu_tc_pieces *found;
	size_t matches;
};

/* WORD is the end of what has been cut from the last piece. */
static bool
see(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_snapshot *snap = search->walk->snap;
	uintptr_t left = mu_word_at(snap, at + MU_TC_ALLOCATOR_AVAIL);
	uint32_t used = (uint32_t)mu_word_at(snap, at + MU_TC_ALLOCATOR_USED);
	const struct mu_mapping *mapping;

	if (left >= MU_TC_PIECE || (MU_TC_PIECE - left) % search->size != 0 ||
	    word % sizeof(word) != 0 || word < MU_TC_PIECE ||
	    used > INT32_MAX ||
	    (search->used != SIZE_MAX && search->used != used))
		return true;
	mapping = mu_snapshot_mapping(snap, word - (MU_TC_PIECE - left));
	if (mapping == NULL || !mu_mapping_is_anonymous(mapping))
		return true;
	*search->found = (struct mu_tc_pieces) {
		.at = at,
		.used = used,
		.unused = mu_word_at(snap, at + MU_TC_ALLOCATOR_LIST),
	};
	search->matches++;
	return true;
}

bool
mu_tc_pieces_find(struct mu_tc_pieces *pieces, const struct mu_tc_walk *walk,
    size_t size, size_t used)
{
	struct search search = {
		.walk = walk,
		.size = size,
		.used = used,
		.found = pieces,
	};

	mu_each_word(walk->snap, walk->tc.data, see, &search);
	return search.matches == 1;
}

/*
 * They are no roots: what they had of objects may be there. A list without end
 * returns to one of the last half of those read.
 */
enum mu_status
mu_tc_unused_spans_own(struct mu_tc_walk *walk)
{
	size_t spans = walk->num_spans + walk->num_free, steps = 0;
	struct mu_tc_pieces pieces;
	uintptr_t span, next, seen = 0;

	if (!mu_tc_pieces_find(&pieces, walk, MU_TC_SPAN, spans + SPARE_SPANS))
		return mu_tc_wrong(walk, "data", walk->tc.data.begin,
		    "another count of spans");
	for (span = pieces.unused; span != 0; span = next, steps++) {
		if (span == seen || !mu_snapshot_word(walk->snap, span, &next))
			return mu_tc_wrong(
			    walk, "list of unused spans", pieces.at, "no end");
		if ((steps & (steps - 1)) == 0)
			seen = span;
		if (!mu_ranges_add(&walk->owned,
			(struct mu_range) { span, span + MU_TC_SPAN }))
			return mu_heap_no_memory(walk->why);
	}
	walk->overhead += (pieces.used + steps) * MU_TC_SPAN;
	return MU_OK;
}
