/*
 * In a bin links are mutual, so a list has no chunk twice and shares none with
 * another list: once the lists together have as many members as the walk saw
 * free chunks, those are their members. In a fastbin links lead one way; but a
 * list that ends has no chunk twice, and if all its chunks belong to one arena
 * and have one size, it shares none with another list.
 */
#include "heapwalk/heaps/glibc/lists.h"

#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/segments.h"

#define MEMBERS_MIN 4096 /* with fewer, links are followed one by one */
#define FAST_MIN 64      /* the same, for one fastbin */

/*
 * Clearing the bits of this many bytes of heap takes as long as following one
 * link.
 */
#define SPARSE ((size_t)1 << 17)

/* Join the segments of bin BIN's list; adds its members to COUNT. */
static bool
join_bin(struct mu_glibc_segments *set, struct mu_glibc_segment *segment,
    size_t bin, size_t *count)
{
	uintptr_t head = segment->first, last;
	size_t left;

	for (left = set->count; left > 0; left--) {
		if (segment->broken ||
		    (bin != MU_BIN_UNSORTED && segment->bin != MU_BIN_NONE &&
			segment->bin != bin))
			return false;
		*count += segment->count;
		last = segment->last;
		if (segment->end == head)
			return mu_glibc_arena_word(
				   set->walk, head, MU_CHUNK_BK) == last;
		segment = mu_glibc_segments_at(set, segment->end);
		if (segment == NULL ||
		    mu_glibc_arena_word(
			set->walk, segment->first, MU_CHUNK_BK) != last)
			return false;
	}
	return false;
}

static bool
join_bins(struct mu_glibc_segments *set)
{
	struct mu_glibc_segment *head = &set->segments[set->num_picked];
	size_t arena, bin, count;

	for (arena = 0; arena < set->walk->glibc.num_arenas; arena++) {
		count = 0;
		for (bin = 1; bin <= MU_GLIBC_BINS; bin++)
			if (!join_bin(set, head++, bin, &count))
				return false;
		if (count != set->walk->num_free[arena])
			return false;
	}
	return true;
}

/* Called when the marks are no longer needed. */
static void
clear_marks(struct mu_blocks *blocks)
{
	size_t i, word;

	for (i = 0; i < blocks->num_spans; i++)
		for (word = 0; word < blocks->spans[i].num_words; word++)
			*mu_span_marks(&blocks->spans[i], word) = 0;
}

static bool
are_many(const struct mu_glibc_walk *walk)
{
	const struct mu_blocks *blocks = &walk->heap->blocks;
	size_t i, members = 0, bytes = 0;

	for (i = 0; i < walk->glibc.num_arenas; i++)
		members += walk->num_free[i];
	for (i = 0; i < blocks->num_spans; i++)
		bytes += mu_range_size(blocks->spans[i].range);
	return members >= MEMBERS_MIN && members >= bytes / SPARSE;
}

/*
 * Check what mu_glibc_bins_check() checks, for every arena. If all holds, the
 * mark bits are clear. If not, or if the lists are too short to be worth it,
 * nothing has changed.
 */
static bool
do_bins_hold(struct mu_glibc_walk *walk)
{
	size_t arena, bin, arenas = walk->glibc.num_arenas;
	struct mu_glibc_segments set;
	bool hold;

	if (!are_many(walk) ||
	    !mu_glibc_segments_open(&set, walk, false, arenas * MU_GLIBC_BINS))
		return false;
	for (arena = 0; arena < arenas; arena++)
		for (bin = 1; bin <= MU_GLIBC_BINS; bin++)
			mu_glibc_segments_add(&set,
			    walk->glibc.arenas[arena] +
				walk->glibc.layout->arena_bins +
				(bin - 1) * 16 - MU_CHUNK_FD,
			    arena);
	mu_glibc_segments_follow(&set);
	hold = join_bins(&set);
	mu_glibc_segments_close(&set);
	if (hold)
		clear_marks(&walk->heap->blocks);
	return hold;
}

/* Join the segments of fastbin BIN's list. */
static bool
join_fast(
    struct mu_glibc_segments *set, struct mu_glibc_segment *segment, size_t bin)
{
	size_t arena = segment->arena, left;

	for (left = set->count; segment != NULL && left > 0; left--) {
		if (segment->broken || segment->arena != arena ||
		    (segment->count > 0 && segment->bin != bin + 1))
			return false;
		segment->joined = true;
		if (segment->end == 0)
			return true;
		segment = mu_glibc_segments_at(set, segment->end);
	}
	return false;
}

static uintptr_t
fast_head(const struct mu_glibc_walk *walk, size_t arena, size_t bin)
{
	return walk->glibc.arenas[arena] + walk->glibc.layout->arena_fastbins +
	    bin * 8 - MU_CHUNK_FD;
}

/*
 * True if any fastbin has that many members. For use before anything was
 * checked.
 */
static bool
is_any_long(const struct mu_glibc_walk *walk)
{
	size_t arena, bin, left;
	uintptr_t chunk, link;

	for (arena = 0; arena < walk->glibc.num_arenas; arena++)
		for (bin = 0; bin < MU_GLIBC_FASTBINS; bin++) {
			chunk = mu_glibc_arena_word(
			    walk, fast_head(walk, arena, bin), MU_CHUNK_FD);
			for (left = FAST_MIN; chunk != 0 &&
			     mu_blocks_span(&walk->heap->blocks, chunk) !=
				 NULL &&
			     mu_snapshot_word(
				 walk->snap, chunk + MU_CHUNK_FD, &link);
			     left--) {
				if (left == 0)
					return true;
				chunk = mu_glibc_link(
				    walk, chunk + MU_CHUNK_FD, link);
			}
		}
	return false;
}

/*
 * Do what mu_glibc_fastbins_take() does, for every arena, once the bins are
 * known to be good. Returns false if nothing was taken, as above.
 */
static bool
take_fast(struct mu_glibc_walk *walk)
{
	size_t arena, bin, i, arenas = walk->glibc.num_arenas;
	struct mu_glibc_segments set;
	bool hold = true;

	if (walk->glibc.layout->arena_fastbins == 0 ||
	    walk->unproven.count > 0 || !is_any_long(walk) ||
	    !mu_glibc_segments_open(
		&set, walk, true, arenas * MU_GLIBC_FASTBINS))
		return false;
	for (arena = 0; arena < arenas; arena++)
		for (bin = 0; bin < MU_GLIBC_FASTBINS; bin++)
			mu_glibc_segments_add(
			    &set, fast_head(walk, arena, bin), arena);
	mu_glibc_segments_follow(&set);
	for (i = set.num_picked; hold && i < set.count; i++)
		hold = join_fast(&set, &set.segments[i],
		    (i - set.num_picked) % MU_GLIBC_FASTBINS);
	mu_glibc_segments_close(&set);
	if (hold)
		mu_glibc_segments_take(&set);
	return hold;
}

enum mu_status
mu_glibc_lists_take(struct mu_glibc_walk *walk)
{
	enum mu_status bins = MU_OK, fast = MU_OK;
	size_t i, count = walk->glibc.num_arenas;

	if (!do_bins_hold(walk))
		for (i = 0; bins == MU_OK && i < count; i++) {
			bins = mu_glibc_bins_check(walk, i);
			if (bins != MU_OK)
				count = i;
		}
	if (bins == MU_OK && take_fast(walk))
		return MU_OK;
	for (i = 0; fast == MU_OK && i < count; i++)
		fast = mu_glibc_fastbins_take(walk, i);
	return fast != MU_OK ? fast : bins;
}
