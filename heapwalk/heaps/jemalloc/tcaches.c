/*
 * What threads hold in reserve: each arena has a ring of the tcaches of its
 * threads (tcache_ql), with those that the program made by "tcache.create". A
 * tcache has a stack for each size class (cache_bin), which grows down; all
 * are in one allocation, one behind the other, between two words.
 */
#include <string.h>

#include "heapwalk/heaps/jemalloc/heap.h"

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
static bool
take_blocks(struct mu_je_walk *walk, uintptr_t at, size_t count, unsigned index)
{
	uintptr_t block;

	for (; count > 0; count--, at += WORD) {
		if (!mu_snapshot_word(walk->snap, at, &block) ||
		    mu_je_take(walk, block, index) == NULL)
			return false;
	}
	return true;
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
	memcpy(&head, view, sizeof(head));
	memcpy(&full, view + MU_JE_CACHE_FULL, sizeof(full));
	memcpy(&empty, view + MU_JE_CACHE_EMPTY, sizeof(empty));
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
	return take_blocks(walk, head, used / WORD, index)
	    ? MU_OK
	    : wrong(walk, tcache, "holds what is no block in use");
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
	return mu_je_word(walk->snap, at) == MU_JE_STACKS_BEGIN
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
	uintptr_t tcache = mu_je_word(snap, at + WORD);
	struct stacks stacks = { .next = 0 };
	enum mu_status status;
	unsigned i;

	if (mu_je_word(snap, tcache) != slow ||
	    mu_je_word(snap, slow + MU_JE_SLOW_ARENA) != arena ||
	    mu_je_word(snap, slow + MU_JE_SLOW_DESCRIPTOR_BINS) !=
		tcache + MU_JE_TCACHE_BINS)
		return wrong(walk, tcache, "does not belong to its arena");
	status = open_stacks(walk, &stacks, tcache, mu_je_word(snap, at));
	for (i = 0; status == MU_OK && i < sizes->bins + release->tcache_large;
	     i++) {
		/* Behind the last that is cached, the memory is not set. */
		if (i >= sizes->bins &&
		    mu_je_word(snap, stacks.next) == release->stacks_end)
			break;
		status = take_stack(walk, &stacks, tcache, i);
	}
	if (status == MU_OK &&
	    mu_je_word(snap, stacks.next) != release->stacks_end)
		return wrong(walk, tcache, "has no word behind its stacks");
	return status;
}

static enum mu_status
take_ring(struct mu_je_walk *walk, uintptr_t arena)
{
	uintptr_t first =
	    mu_je_word(walk->snap, arena + walk->je.release->tcaches);
	uintptr_t slow = first, next;
	enum mu_status status;
	size_t steps;

	for (steps = 0; slow != 0; steps++) {
		status = take_tcache(walk, slow, arena);
		if (status != MU_OK)
			return status;
		next = mu_je_word(walk->snap, slow);
		if (next == first)
			break;
		if (steps == TCACHES_MAX ||
		    mu_je_word(walk->snap, next + WORD) != slow)
			return wrong(walk, slow, "is in a ring that is broken");
		slow = next;
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
