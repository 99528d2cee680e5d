/*
 * Find the stacks of threads that ended, which glibc keeps for reuse.
 *
 * They are recognised by their struct pthread, which on x86-64 holds its own
 * address twice.
 */
#include "heapwalk/heaps/glibc/pthread.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/stacks_search.h"

#ifdef MU_PTHREAD_SELF
/*
 * True if the struct pthread at ADDRESS is on one of glibc's lists of stacks. A
 * stack that the program provided is removed from them when its thread is
 * joined, and can hold anything then.
 */
static bool
is_listed(const struct mu_snapshot *snap, uintptr_t address)
{
	uintptr_t node = address + MU_PTHREAD_LIST, next, prev, word;

	return mu_snapshot_word(snap, node, &next) &&
	    mu_snapshot_word(snap, node + sizeof(next), &prev) &&
	    next != node &&
	    mu_snapshot_word(snap, next + sizeof(next), &word) &&
	    word == node && mu_snapshot_word(snap, prev, &word) && word == node;
}

/*
 * An ended thread has a tid of 0, cleared by the kernel, or -1 in the cache up
 * to 2.41. A thread that is about to start has 0, too, and what is below its
 * struct pthread is dead as well.
 */
static bool
is_ended(const struct mu_stacks_search *search, uintptr_t address,
    struct mu_range *block)
{
	const struct mu_snapshot *snap = search->snap;
	struct mu_range below;
	uintptr_t word;

	if (!mu_snapshot_word(snap, address + MU_PTHREAD_TID, &word) ||
	    (int32_t)(uint32_t)word > 0 ||
	    !mu_stacks_read_block(
		snap, address + MU_PTHREAD_STACKBLOCK, address, block))
		return false;
	below = (struct mu_range) { block->begin, address + 1 };
	return !mu_stacks_any(&search->tps, below) &&
	    !mu_stacks_any(&search->sps, *block) && is_listed(snap, address) &&
	    mu_mappings_are_anonymous(
		snap->mappings, snap->num_mappings, *block);
}

/* Reads every word, including AddressSanitizer's redzones. */
static __attribute__((noinline, no_sanitize_address)) bool
holds_own_address(const char *view, uintptr_t address)
{
	uintptr_t word;

	__builtin_memcpy(&word, view, sizeof(word));
	if (word != address)
		return false;
	__builtin_memcpy(&word, view + MU_PTHREAD_SELF, sizeof(word));
	return word == address;
}

/*
 * The stale words in a dead struct pthread: the argument of its thread and,
 * after a join, its result.
 */
static struct mu_range
outlived_words(const struct mu_snapshot *snap, uintptr_t address)
{
	uintptr_t word;

	if (mu_snapshot_word(snap, address + MU_PTHREAD_CANCEL, &word) &&
	    (word & MU_PTHREAD_TERMINATED) != 0)
		return (struct mu_range) { address + MU_PTHREAD_RESULT,
			address + MU_PTHREAD_STACKBLOCK };
	return (struct mu_range) { address + MU_PTHREAD_ARGUMENT,
		address + MU_PTHREAD_ARGUMENT_END };
}

/*
 * Exclude what is below a dead struct pthread, but little of the struct itself:
 * it may be reused, and refers to the dynamic thread vector, which is a block.
 */
static bool
search_piece(struct mu_stacks_search *search, struct mu_range piece)
{
	const char *view;
	uintptr_t address;
	struct mu_range block;

	piece.begin += -piece.begin % MU_PTHREAD_ALIGN;
	piece.end -= piece.end % MU_PTHREAD_ALIGN;
	if (mu_range_size(piece) == 0)
		return true;
	view =
	    mu_snapshot_view(search->snap, piece.begin, mu_range_size(piece));
	if (view == NULL)
		return true;
	for (address = piece.begin; address < piece.end;
	     address += MU_PTHREAD_ALIGN, view += MU_PTHREAD_ALIGN) {
		if (!holds_own_address(view, address) ||
		    !is_ended(search, address, &block))
			continue;
		search->stacks->num_ended++;
		block.end = address;
		if (!mu_ranges_add(&search->stacks->dead, block) ||
		    !mu_ranges_add(&search->stacks->dead,
			outlived_words(search->snap, address)))
			return false;
	}
	return true;
}

static bool
search_mapping(struct mu_stacks_search *search,
    const struct mu_mapping *mapping, const struct mu_ranges *skip)
{
	struct mu_memory *memory = (struct mu_memory *)&search->snap->memory;
	struct mu_range rest = mapping->range, part, piece;

	while (mu_ranges_gap(skip, &rest, &piece)) {
		while (mu_range_size(piece) != 0 &&
		    memory->ops->populated(memory, piece, &part)) {
			piece.begin = part.end;
			if (!search_piece(search, part))
				return false;
		}
	}
	return true;
}

/*
 * Every stack is anonymous. The ends of mappings do not help, as adjacent ones
 * merge.
 */
bool
mu_stacks_add_ended(
    struct mu_stacks_search *search, const struct mu_ranges *skip)
{
	const struct mu_mapping *mapping;
	size_t i;

	for (i = 0; i < search->snap->num_mappings; i++) {
		mapping = &search->snap->mappings[i];
		if (mapping->readable && mapping->writable &&
		    mu_mapping_is_anonymous(mapping) &&
		    !search_mapping(search, mapping, skip))
			return false;
	}
	return true;
}
#else
bool
mu_stacks_add_ended(
    struct mu_stacks_search *search, const struct mu_ranges *skip)
{
	(void)search;
	(void)skip;
	return true;
}
#endif
