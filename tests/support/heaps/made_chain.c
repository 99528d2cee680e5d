#include "tests/support/heaps/made_chain.h"

static uint64_t chain_state; /* of the random numbers */
char *chain_heap;            /* where chains are made */

void
random_seed(uint64_t seed)
{
	chain_state = seed * 0x9e3779b97f4a7c15ull + 1;
}

size_t
chain_random_below(size_t bound)
{
	chain_state ^= chain_state << 13;
	chain_state ^= chain_state >> 7;
	chain_state ^= chain_state << 17;
	return chain_state % bound;
}

size_t *
chain_word_at(size_t offset)
{
	return (size_t *)(chain_heap + offset);
}

void
put_header(size_t at, size_t size, size_t before, bool in_use, bool other)
{
	if (!in_use)
		*chain_word_at(at) = before;
	*chain_word_at(at + 8) = size | (in_use ? MU_PREV_INUSE : 0) |
	    (other ? MU_NON_MAIN_ARENA : 0);
}

static size_t
random_size(size_t style)
{
	switch (style) {
	case 0:
		return 32 + chain_random_below(20) * 16;
	case 1:
		return 0x290 + chain_random_below(2) * 16;
	case 2:
		return chain_random_below(50) == 0
		    ? 32 + chain_random_below(40000) * 16
		    : 32 + chain_random_below(40) * 16;
	default:
		return 32 + chain_random_below(100000) * 16;
	}
}

void
fill(size_t from, size_t to, size_t style, bool other)
{
	size_t at = from, size, before = 0;
	bool in_use = true;

	while (at < to) {
		size = random_size(style);
		if (to - at < size + 32)
			size = to - at;
		put_header(at, size, before, in_use, other);
		/* No two free ones touch. */
		in_use =
		    !in_use || at + size == to || chain_random_below(3) != 0;
		before = size;
		at += size;
	}
	put_header(to, 0, 0, true, other);
}

void
map_heap(size_t size)
{
	chain_heap = mmap((void *)0x7e0000000000, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chain_heap == MAP_FAILED)
		abort();
}
