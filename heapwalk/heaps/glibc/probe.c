/* Test whether a chain could start here: see heapwalk/heaps/glibc/chunks.h. */
#include "heapwalk/heaps/glibc/step.h"
#include "heapwalk/heaps/spans.h"

#define ASKED_PAGES 64 /* pages queried at a time */

bool
mu_glibc_chunk_plausible(
    struct mu_range limit, const char *view, uintptr_t address)
{
	size_t at = address - limit.begin, left = limit.end - address, size;
	uintptr_t word, next;

	if (left < MU_GLIBC_MINSIZE)
		return false;
	word = mu_glibc_word(view, at + MU_GLIBC_SIZE);
	size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	if ((word & (MU_GLIBC_BAD_BITS | MU_NON_MAIN_ARENA)) != 0 ||
	    size < MU_GLIBC_MINSIZE || size > left - MU_GLIBC_HEADER)
		return false;
	next = mu_glibc_word(view, at + size + MU_GLIBC_SIZE);
	if ((next & (MU_GLIBC_BAD_BITS | MU_NON_MAIN_ARENA)) != 0)
		return false;
	return (next & MU_PREV_INUSE) != 0 ||
	    mu_glibc_word(view, at + size) == size;
}

static bool
test_bit(const uint64_t *bits, size_t bit)
{
	return (bits[bit / MU_WORD_BITS] >> (bit % MU_WORD_BITS) & 1) != 0;
}

/* Like mu_glibc_written(), with fewer queries: KNOWN caches the last run. */
static bool
was_written(
    const struct mu_glibc_walk *walk, uintptr_t address, struct mu_range *known)
{
	struct mu_memory *memory = (struct mu_memory *)&walk->snap->memory;
	uintptr_t begin = address - address % memory->page_size;
	struct mu_range ask = { begin,
		begin + ASKED_PAGES * memory->page_size };

	if (mu_range_has(*known, address))
		return true;
	return memory->ops->populated(memory, ask, known) &&
	    mu_range_has(*known, address);
}

bool
mu_glibc_chain_probe(const struct mu_glibc_walk *walk,
    struct mu_glibc_chain *chain, struct mu_glibc_probe *probe, uintptr_t from)
{
	size_t at = from - chain->limit.begin, size, end;
	struct mu_range written = { 0, 0 };
	uintptr_t word;

	for (;; at += size) {
		chain->end = chain->limit.begin + at;
		if (chain->top != 0 && chain->end == chain->top)
			return true;
		if (probe->budget == 0 ||
		    mu_range_size(chain->limit) - at < MU_GLIBC_HEADER)
			return false;
		probe->budget--;
		if (probe->seen != NULL) {
			if (test_bit(probe->seen, at / MU_GRAIN))
				return false;
			probe->seen[at / MU_GRAIN / MU_WORD_BITS] |= 1ull
			    << (at / MU_GRAIN % MU_WORD_BITS);
		}
		if (probe->scattered &&
		    !was_written(walk, chain->limit.begin + at, &written))
			return false;
		word = mu_glibc_word(chain->view, at + MU_GLIBC_SIZE);
		if (chain->limit.begin + at == from &&
		    (word & MU_PREV_INUSE) == 0)
			return false;
		if ((word & ~(uintptr_t)MU_PREV_INUSE) == MU_GLIBC_FENCE_SIZE) {
			end = mu_glibc_fence_end(chain->limit, chain->view,
			    walk->snap->memory.page_size, at);
			chain->end = chain->limit.begin + end;
			return end != 0 && chain->limit.begin + at != from;
		}
		size = word & ~(uintptr_t)MU_SIZE_FLAGS;
		if (probe->scattered &&
		    size < mu_range_size(chain->limit) - at &&
		    !was_written(
			walk, chain->limit.begin + at + size, &written))
			return false;
		if (!mu_glibc_chunk_plausible(
			chain->limit, chain->view, chain->limit.begin + at))
			return false;
	}
}
