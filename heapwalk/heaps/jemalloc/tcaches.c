/*
 * What threads hold in reserve: each arena has a ring of the tcaches of its
 * threads (tcache_ql), with those that the program made by "tcache.create". A
 * tcache has a stack for each size class (cache_bin), which grows down; all
 * are in one allocation, one behind the other. Words before and behind them
 * show it; in 5.2 there are none, and tcache_t itself is before the stacks of
 * those that the program made.
 */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/view.h"

#define TCACHES_MAX ((size_t)1 << 20)
#define WORD sizeof(uintptr_t)

/* The stacks of one tcache. */
struct stacks {
	uintptr_t next; /* where that of the next class begins */
	uintptr_t end;  /* of the allocation */
};

static enum mu_status
wrong(const struct mu_je_walk *walk, uintptr_t tcache, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "jemalloc: tcache %p %s", (void *)tcache, rule);
}

/* Take the COUNT blocks of class INDEX from AT on. */
static enum mu_status
take_blocks(struct mu_je_walk *walk, uintptr_t tcache, uintptr_t at,
    size_t count, unsigned index)
{
	uintptr_t block;

	for (; count > 0; count--, at += WORD)
		if (!mu_snapshot_word(walk->snap, at, &block) ||
		    mu_je_take(walk, block, index) == NULL)
			return wrong(
			    walk, tcache, "holds what is no block in use");
	return MU_OK;
}

/*
 * Only the low bits of the ends of a stack are kept, beside its head. A class
 * that is not cached has a stack of no words, elsewhere.
 */
static enum mu_status
take_stack(struct mu_je_walk *walk, struct stacks *stacks, uintptr_t tcache,
    unsigned index)
{
	uintptr_t bin = tcache + MU_JE_TCACHE_BINS + index * MU_JE_CACHE_SIZE;
	uint16_t full, empty, size, used;
	struct mu_range stack;
	const char *view;
	uintptr_t head;

	view = mu_snapshot_view(walk->snap, bin, MU_JE_CACHE_SIZE);
	if (view == NULL)
		return wrong(walk, tcache, "cannot be read");
	head = mu_view_word(view);
	full = mu_view_u16(view + MU_JE_CACHE_FULL);
	empty = mu_view_u16(view + MU_JE_CACHE_EMPTY);
	size = (uint16_t)(empty - full);
	used = (uint16_t)(empty - (uint16_t)head);
	if (size == 0 && used == 0)
		return MU_OK;
	stack = (struct mu_range) { stacks->next, stacks->next + size };
	if (size % WORD != 0 || used % WORD != 0 || used > size ||
	    (uint16_t)stack.begin != full || stack.end - used != head ||
	    stack.end + WORD > stacks->end)
		return wrong(walk, tcache, "has a stack that cannot be");
	stacks->next = stack.end;
	return take_blocks(walk, tcache, head, used / WORD, index);
}

/*
 * The allocation of the stacks is a block of the first arena, or in a base
 * (b0_alloc_tcache_stack(), opt.metadata_thp).
 */
static enum mu_status
open_stacks(struct mu_je_walk *walk, struct stacks *stacks, uintptr_t tcache,
    uintptr_t at)
{
	const struct mu_je_extent *extent =
	    mu_je_take(walk, at, MU_JE_CLASSES_MAX);

	if (extent == NULL ? !mu_ranges_has(&walk->bases, at)
			   : extent->arena != 0)
		return wrong(walk, tcache, "has no memory for its stacks");
	*stacks = (struct stacks) { .next = at + WORD, .end = UINTPTR_MAX };
	if (extent != NULL) {
		stacks->end = at + extent->size;
		walk->internal += extent->size;
	}
	return mu_word_at(walk->snap, at) == MU_JE_STACKS_BEGIN
	    ? MU_OK
	    : wrong(walk, tcache, "has no word before its stacks");
}

static enum mu_status
take_tcache(struct mu_je_walk *walk, uintptr_t slow, uintptr_t arena)
{
	const struct mu_je_release *release = walk->je.release;
	const struct mu_je_sizes *sizes = walk->je.sizes;
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t at = slow + mu_je_slow_stacks(release, sizes);
	uintptr_t tcache = mu_word_at(snap, at + WORD);
	struct stacks stacks = { .next = 0 };
	enum mu_status status;
	unsigned i;

	if (mu_word_at(snap, tcache) != slow ||
	    mu_word_at(snap, slow + MU_JE_SLOW_ARENA) != arena ||
	    mu_word_at(snap, slow + MU_JE_SLOW_DESCRIPTOR_BINS) !=
		tcache + MU_JE_TCACHE_BINS)
		return wrong(walk, tcache, "does not belong to its arena");
	status = open_stacks(walk, &stacks, tcache, mu_word_at(snap, at));
	for (i = 0; status == MU_OK && i < sizes->bins + release->tcache_large;
	     i++) {
		/* Behind the last that is cached, the memory is not set. */
		if (i >= sizes->bins &&
		    mu_word_at(snap, stacks.next) == release->stacks_end)
			break;
		status = take_stack(walk, &stacks, tcache, i);
	}
	if (status == MU_OK &&
	    mu_word_at(snap, stacks.next) != release->stacks_end)
		return wrong(walk, tcache, "has no word behind its stacks");
	return status;
}

/* Of 5.2: the stack of class INDEX, whose cache_bin_t is at BIN. */
static enum mu_status
take_counted(struct mu_je_walk *walk, struct stacks *stacks, uintptr_t tcache,
    uintptr_t bin, unsigned index)
{
	uintptr_t end = mu_word_at(walk->snap, bin + MU_JE_CACHE_AVAIL);
	uint32_t count =
	    (uint32_t)mu_word_at(walk->snap, bin + MU_JE_CACHE_COUNT);

	if (end < stacks->next || end > stacks->end || end % WORD != 0 ||
	    count > (end - stacks->next) / WORD)
		return wrong(walk, tcache, "has a stack that cannot be");
	stacks->next = end;
	return take_blocks(walk, tcache, end - count * WORD, count, index);
}

static enum mu_status
take_old_tcache(struct mu_je_walk *walk, uintptr_t tcache, uintptr_t arena)
{
	const struct mu_je_sizes *sizes = walk->je.sizes;
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t small = tcache + MU_JE_SMALL, bin = small;
	uintptr_t end = tcache + mu_je_small_end(sizes);
	uintptr_t large = tcache + mu_je_bins_large(sizes);
	uintptr_t avail = mu_word_at(snap, small + MU_JE_CACHE_AVAIL);
	struct stacks stacks = { .next = mu_je_begin(walk, avail - WORD) };
	const struct mu_je_extent *extent;
	enum mu_status status = MU_OK;
	unsigned i;

	if (mu_word_at(snap, end + MU_JE_SMALL_ARENA) != arena ||
	    mu_word_at(snap, end + MU_JE_SMALL_DESCRIPTOR) != small ||
	    mu_word_at(snap, end + MU_JE_SMALL_DESCRIPTOR + WORD) != large)
		return wrong(walk, tcache, "does not belong to its arena");
	extent = mu_je_take(walk, stacks.next, MU_JE_CLASSES_MAX);
	if (extent == NULL || extent->arena != 0)
		return wrong(walk, tcache, "has no memory for its stacks");
	walk->internal += extent->size;
	stacks.end = stacks.next + extent->size;
	if (stacks.next == tcache)
		stacks.next = large +
		    (sizes->classes - sizes->bins) * (size_t)MU_JE_CACHE_SIZE;
	for (i = 0; status == MU_OK && i < sizes->classes; i++) {
		if (i == sizes->bins)
			bin = large;
		/* Behind the last that is cached. */
		if (i >= sizes->bins &&
		    mu_word_at(snap, bin + MU_JE_CACHE_AVAIL) == 0)
			break;
		status = take_counted(walk, &stacks, tcache, bin, i);
		bin += MU_JE_CACHE_SIZE;
	}
	return status;
}

static enum mu_status
take_ring(struct mu_je_walk *walk, uintptr_t arena)
{
	uintptr_t first =
	    mu_word_at(walk->snap, arena + walk->je.release->tcaches);
	bool old = walk->je.release->extents;
	size_t link = old ? mu_je_small_end(walk->je.sizes) : 0, steps;
	uintptr_t at = first, next;
	enum mu_status status;

	for (steps = 0; at != 0; steps++) {
		status = old ? take_old_tcache(walk, at, arena)
			     : take_tcache(walk, at, arena);
		if (status != MU_OK)
			return status;
		next = mu_word_at(walk->snap, at + link);
		if (next == first)
			break;
		if (steps == TCACHES_MAX ||
		    mu_word_at(walk->snap, next + link + WORD) != at)
			return wrong(walk, at, "is in a ring that is broken");
		at = next;
	}
	return MU_OK;
}

enum mu_status
mu_je_tcaches_take(struct mu_je_walk *walk)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; status == MU_OK && i < walk->je.num_arenas; i++)
		if (walk->arenas[i] != 0)
			status = take_ring(walk, walk->arenas[i]);
	return status;
}
