/* Choose where segments of lists begin: see heapwalk/heaps/glibc/segments.h. */
#include "heapwalk/heaps/glibc/members.h"
#include "mu/bisect.h"

#define PICKED_MAX 2048 /* most segments that are picked */
#define TRIED 4         /* chunks in use tried per pick, for fastbins */

/*
 * Segments of good lists have no chunk in common, but segments of wrong picks
 * run into them; so allow some more steps per chunk.
 */
#define STEPS_EACH 8
#define MORE_STEPS ((size_t)1 << 16)

/*
 * True if the chunk in use at BIT could be in a fastbin and link to another
 * one.
 */
static bool
may_be_fast(
    const struct mu_glibc_segments *set, const struct mu_span *span, size_t bit)
{
	uintptr_t chunk = span->range.begin + bit * MU_GRAIN - MU_GLIBC_HEADER;
	const struct mu_glibc_walk *walk = set->walk;
	const struct mu_span *other;
	struct mu_glibc_head head;
	const char *view;
	uintptr_t next;
	size_t size;

	/* With notes, nearly all such chunks have one. */
	if (walk->notes.count > 0 &&
	    !mu_glibc_note_of(&walk->notes, chunk, head.bytes))
		return false;
	view = mu_glibc_head(walk, span, chunk, &head);
	size = mu_member_size(view);
	if (size / 16 - 2 >= MU_GLIBC_FASTBINS)
		return false;
	next = mu_member_next(set, view, chunk);
	other = mu_blocks_span(&walk->heap->blocks, next);
	return other != NULL && mu_member_is_in(other, span->owner, next) &&
	    mu_span_test(other, next + MU_GLIBC_HEADER) &&
	    mu_member_size(mu_glibc_head(walk, other, next, &head)) == size;
}

/* The first chunk in words [FROM, STOP) that may be on a list; or 0. */
static uintptr_t
pick_one(const struct mu_glibc_segments *set, const struct mu_span *span,
    size_t from, size_t stop)
{
	size_t tried = 0, bit;
	uint64_t bits;

	for (; from < stop && from < span->num_words; from++) {
		bits = *mu_member_bits(set, span, from);
		for (; bits != 0; bits &= bits - 1) {
			bit =
			    from * MU_WORD_BITS + (size_t)__builtin_ctzll(bits);
			if (!set->fast || may_be_fast(set, span, bit))
				return span->range.begin + bit * MU_GRAIN -
				    MU_GLIBC_HEADER;
			if (++tried == TRIED)
				return 0;
		}
	}
	return 0;
}

static void
flip_picked(struct mu_glibc_segments *set)
{
	const struct mu_span *span;
	uintptr_t chunk;
	size_t i, bit;

	for (i = 0; i < set->num_picked; i++) {
		chunk = set->segments[i].first;
		span = mu_blocks_span(&set->walk->heap->blocks, chunk);
		bit = mu_member_bit(span, chunk);
		*mu_member_picked(set, span, bit / MU_WORD_BITS) ^= 1ull
		    << (bit % MU_WORD_BITS);
	}
}

/* The number of chunks that may be on a list. */
static size_t
count_members(const struct mu_glibc_segments *set)
{
	const struct mu_blocks *blocks = &set->walk->heap->blocks;
	size_t i, count = 0;

	if (set->fast)
		for (i = 0; i < blocks->num_spans; i++)
			count += blocks->spans[i].count;
	else
		for (i = 0; i < set->walk->glibc.num_arenas; i++)
			count += set->walk->num_free[i];
	return count;
}

bool
mu_glibc_segments_open(struct mu_glibc_segments *set,
    struct mu_glibc_walk *walk, bool fast, size_t num_heads)
{
	struct mu_blocks *blocks = &walk->heap->blocks;
	size_t i, from, stride, words = 0;
	uintptr_t chunk;

	*set = (struct mu_glibc_segments) { .walk = walk, .fast = fast };
	set->segments = mu_arena_alloc(
	    walk->memory, num_heads + PICKED_MAX, sizeof(*set->segments));
	if (set->segments == NULL)
		return false;
	for (i = 0; i < blocks->num_spans; i++)
		words += blocks->spans[i].num_words;
	stride = words / PICKED_MAX + 1;
	for (i = 0; i < blocks->num_spans; i++)
		for (from = 0; from < blocks->spans[i].num_words &&
		     set->num_picked < PICKED_MAX;
		     from += stride) {
			chunk = pick_one(
			    set, &blocks->spans[i], from, from + stride);
			if (chunk != 0)
				set->segments[set->num_picked++] =
				    (struct mu_glibc_segment) {
					    .first = chunk,
					    .arena = blocks->spans[i].owner,
				    };
		}
	set->count = set->num_picked;
	set->max_steps = STEPS_EACH * count_members(set) + MORE_STEPS;
	flip_picked(set);
	return true;
}

void
mu_glibc_segments_close(struct mu_glibc_segments *set)
{
	flip_picked(set);
}

void
mu_glibc_segments_add(
    struct mu_glibc_segments *set, uintptr_t head, size_t arena)
{
	set->segments[set->count++] =
	    (struct mu_glibc_segment) { .first = head, .arena = arena };
}

struct mu_glibc_segment *
mu_glibc_segments_at(struct mu_glibc_segments *set, uintptr_t chunk)
{
	size_t low = 0;

	mu_bisect(low, set->num_picked, i, set->segments[i].first < chunk);
	if (low == set->num_picked || set->segments[low].first != chunk)
		return NULL;
	return &set->segments[low];
}
