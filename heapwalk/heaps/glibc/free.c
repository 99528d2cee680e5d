/*
 * Reading a list always ends: the bit of each member is cleared when it is met,
 * and a member whose bit is clear ends the reading.
 */
#include "heapwalk/heaps/glibc/free.h"

#define SIZE 8 /* offsets in a chunk */
#define FD 16
#define BK 24
#define WORD_BITS 64
#define STEPS_MAX ((size_t)1 << 28) /* of a list that was not checked */

static enum mu_status
broken(const struct mu_glibc_walk *walk, size_t index, uintptr_t chunk,
    const char *list, size_t number, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "arena %p, %s %zu, chunk %p: %s", (void *)walk->glibc.arenas[index],
	    list, number, (void *)chunk, rule);
}

/* The span of arena INDEX that holds the header and links of CHUNK; or NULL. */
static struct mu_span *
span_of(const struct mu_glibc_walk *walk, size_t index, uintptr_t chunk)
{
	struct mu_span *span = mu_blocks_span(&walk->heap->blocks, chunk);

	if (span == NULL || span->owner != index || chunk % MU_GRAIN != 0 ||
	    span->range.end - chunk < MU_GLIBC_MINSIZE)
		return NULL;
	return span;
}

/*
 * Clear the mark bit of a free chunk. Returns false if the walk saw no free
 * chunk there.
 */
static bool
clear_mark(struct mu_span *span, uintptr_t chunk)
{
	size_t bit = (chunk + MU_GLIBC_HEADER - span->range.begin) / MU_GRAIN;
	uint64_t mask = 1ull << (bit % WORD_BITS);
	uint64_t *word = mu_span_marks(span, bit / WORD_BITS);

	if ((*word & mask) == 0)
		return false;
	*word &= ~mask;
	return true;
}

static enum mu_status
check_bin(struct mu_glibc_walk *walk, size_t index, size_t bin, size_t *count)
{
	uintptr_t head = walk->glibc.arenas[index] +
	    walk->glibc.layout->arena_bins + (bin - 1) * 16 - FD;
	uintptr_t prev = head, chunk = mu_glibc_arena_word(walk, head, FD);
	struct mu_span *span = NULL;
	struct mu_glibc_head front;
	const char *view;
	size_t size;

	for (; chunk != head; prev = chunk, chunk = mu_glibc_word(view, FD)) {
		if (span == NULL || !mu_range_has(span->range, chunk) ||
		    chunk % MU_GRAIN != 0 ||
		    span->range.end - chunk < MU_GLIBC_MINSIZE)
			span = span_of(walk, index, chunk);
		if (span == NULL)
			return broken(walk, index, chunk, "bin", bin,
			    "not in the arena's memory");
		view = mu_glibc_head(walk, span, chunk, &front);
		if (!clear_mark(span, chunk))
			return broken(walk, index, chunk, "bin", bin,
			    mu_span_test(span, chunk + FD)
				? "in use, yet on a free list"
				: "no free chunk, or on two free lists");
		if (mu_glibc_word(view, BK) != prev)
			return broken(walk, index, chunk, "bin", bin,
			    "its list links are not mutual");
		size = mu_glibc_word(view, SIZE) & ~(uintptr_t)MU_SIZE_FLAGS;
		if (bin > 1 && mu_glibc_bin(size) != bin)
			return broken(walk, index, chunk, "bin", bin,
			    "its size belongs in another bin");
		(*count)++;
	}
	if (mu_glibc_arena_word(walk, head, BK) != prev)
		return broken(walk, index, prev, "bin", bin,
		    "its list links are not mutual");
	return MU_OK;
}

enum mu_status
mu_glibc_bins_check(struct mu_glibc_walk *walk, size_t index)
{
	enum mu_status status = MU_OK;
	size_t bin, count = 0;

	for (bin = 1; status == MU_OK && bin <= MU_GLIBC_BINS; bin++)
		status = check_bin(walk, index, bin, &count);
	if (status == MU_OK && count != walk->num_free[index])
		status = mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: %zu free chunks, but %zu in its bins",
		    (void *)walk->glibc.arenas[index], walk->num_free[index],
		    count);
	return status;
}

uintptr_t
mu_glibc_link(
    const struct mu_glibc_walk *walk, uintptr_t address, uintptr_t link)
{
	return walk->glibc.layout->safe_linking
	    ? link ^ (address >> MU_GLIBC_LINK_SHIFT)
	    : link;
}

const char *
mu_glibc_free_take(struct mu_glibc_walk *walk, uintptr_t address, size_t *size)
{
	struct mu_span *span = mu_blocks_span(&walk->heap->blocks, address);
	struct mu_glibc_head head;

	if (span == NULL || address % MU_GRAIN != 0 ||
	    address - span->range.begin < MU_GLIBC_HEADER)
		return "not in any arena's memory";
	*size = mu_glibc_word(
		    mu_glibc_head(walk, span, address - FD, &head), SIZE) &
	    ~(uintptr_t)MU_SIZE_FLAGS;
	if (!mu_span_test(span, address))
		return "no chunk in use, or on two free lists";
	mu_span_clear(span, address);
	return NULL;
}

/*
 * Skip members in unproven memory, which are no blocks; members in proven
 * memory may follow. The number of skipped members is limited.
 */
static bool
pass_unproven(struct mu_glibc_walk *walk, uintptr_t *chunk, size_t *passed)
{
	uintptr_t link;

	if (!mu_ranges_has(&walk->unproven, *chunk))
		return false;
	if ((*passed)++ > walk->heap->unproven_bytes / MU_GLIBC_MINSIZE ||
	    !mu_snapshot_word(walk->snap, *chunk + FD, &link))
		*chunk = 0;
	else
		*chunk = mu_glibc_link(walk, *chunk + FD, link);
	return true;
}

static enum mu_status
take_fastbin(struct mu_glibc_walk *walk, size_t index, size_t bin)
{
	uintptr_t chunk = mu_glibc_arena_word(walk, walk->glibc.arenas[index],
	    walk->glibc.layout->arena_fastbins + bin * 8);
	size_t size, passed = 0;
	struct mu_glibc_head head;
	struct mu_span *span;
	const char *rule;
	uintptr_t link;

	while (chunk != 0) {
		if (pass_unproven(walk, &chunk, &passed))
			continue;
		span = span_of(walk, index, chunk);
		if (span == NULL)
			return broken(walk, index, chunk, "fastbin", bin,
			    "not in the arena's memory");
		rule = mu_glibc_free_take(walk, chunk + FD, &size);
		if (rule == NULL && size != (bin + 2) * 16)
			rule = "its size belongs in another fastbin";
		if (rule != NULL)
			return broken(walk, index, chunk, "fastbin", bin, rule);
		link =
		    mu_glibc_word(mu_glibc_head(walk, span, chunk, &head), FD);
		chunk = mu_glibc_link(walk, chunk + FD, link);
	}
	return MU_OK;
}

enum mu_status
mu_glibc_fastbins_take(struct mu_glibc_walk *walk, size_t index)
{
	enum mu_status status = MU_OK;
	size_t bin;

	if (walk->glibc.layout->arena_fastbins == 0)
		return MU_OK;
	for (bin = 0; status == MU_OK && bin < MU_GLIBC_FASTBINS; bin++)
		status = take_fastbin(walk, index, bin);
	return status;
}

/* Replace BEST by CHUNK if that is better. */
static void
consider(const struct mu_glibc_walk *walk, struct mu_range range,
    uintptr_t chunk, uintptr_t *best)
{
	uintptr_t word;

	if (mu_range_has(range, chunk) && (*best == 0 || chunk < *best) &&
	    mu_snapshot_word(walk->snap, chunk + SIZE, &word) &&
	    (word & MU_PREV_INUSE) != 0)
		*best = chunk;
}

uintptr_t
mu_glibc_free_lowest(const struct mu_glibc_walk *walk, struct mu_range range)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	uintptr_t head = walk->glibc.main_arena + layout->arena_bins - FD;
	uintptr_t chunk, link, prev, best = 0;
	size_t bin, steps = STEPS_MAX;

	for (bin = 1; bin <= MU_GLIBC_BINS; bin++, head += 16) {
		prev = head;
		chunk = mu_glibc_arena_word(walk, head, FD);
		while (chunk != head && steps-- > 0 &&
		    mu_glibc_arena_word(walk, chunk, BK) == prev) {
			consider(walk, range, chunk, &best);
			prev = chunk;
			chunk = mu_glibc_arena_word(walk, chunk, FD);
		}
	}
	for (bin = 0; layout->arena_fastbins != 0 && bin < MU_GLIBC_FASTBINS;
	     bin++) {
		chunk = mu_glibc_arena_word(walk, walk->glibc.main_arena,
		    layout->arena_fastbins + bin * 8);
		while (chunk != 0 && steps-- > 0) {
			consider(walk, range, chunk, &best);
			if (!mu_snapshot_word(walk->snap, chunk + FD, &link))
				break;
			chunk = mu_glibc_link(walk, chunk + FD, link);
		}
	}
	return best;
}
