/*
 * Free-list links that outlived their list.
 *
 * A free chunk holds two pairs of words: fd and bk, at the first 16 bytes of
 * what is later the user's; behind them, if it is large, fd_nextsize and
 * bk_nextsize. Both words of a pair must look like what they were: the address
 * of a chunk, or the head of a list. Evidence, for a pair that does:
 *
 * - The same two words again, in the other pair. On a list of large chunks a
 *   chunk that is alone of its size has its neighbours in both.
 * - One word again, and a list's head for the other: the same, for the first
 *   or the last of a list.
 * - The chunk's size, where it was: the size word in front of the pair leads,
 *   by the size words of the chunks that were behind it, exactly to where a
 *   chunk of now ends. Only inside a block that has grown over the old chunks.
 * - Both words are the header of the chunk that they lie in, where fd_nextsize
 *   and bk_nextsize are: the only large chunk of its list points at itself.
 *
 * None is impossible in what a program wrote, but all of it must be beside a
 * reference to the last word of a block to which there is no other. Measured on
 * 20,000 such references in memory that had been used and was not written but
 * for them (tests/live/roots/roots_planted.c), glibc 2.36: up to 0.2 % are
 * taken for links, 2 % where each has a number below 200 in front. What else
 * was tried: a list's head alone for the other word, up to 10 % (the program
 * wrote one word of a fresh block, not yet the other); neighbours that point at
 * each other, up to 5 % (the chunk behind a fresh block may be on that very
 * list). Both found fewer of the links, too.
 */
#include "heapwalk/heaps/glibc/old_links.h"

#include <string.h>

#include "heapwalk/heaps/glibc/arena.h"

#define WORD sizeof(uintptr_t)

/* From a chunk's header: struct malloc_chunk in glibc's malloc.c. */
#define SIZE 8
#define LINKS 16
#define LARGE_LINKS 32

#define MIN_LARGE 1024 /* MIN_LARGE_SIZE: smaller ones have LINKS only */
#define MAX_SIZES 64   /* most size words that are followed */

/* A pair of words, and the block that it lies in. */
struct pair {
	const struct mu_glibc *glibc;
	const struct mu_blocks *blocks;
	struct mu_block in;
	uintptr_t address;
	uintptr_t words[2];
};

/* Returns false unless the whole word is in the block. */
static bool
read_word(const struct mu_block *block, uintptr_t address, uintptr_t *word)
{
	if (!mu_range_has(block->range, address) ||
	    block->range.end - address < WORD)
		return false;
	memcpy(word, block->view + (address - block->range.begin), WORD);
	return true;
}

static bool
read_pair(const struct mu_block *block, uintptr_t address, uintptr_t words[2])
{
	return read_word(block, address, &words[0]) &&
	    read_word(block, address + WORD, &words[1]);
}

static bool
is_bin(const struct mu_glibc *glibc, uintptr_t value)
{
	size_t i;

	for (i = 0; i < glibc->num_bins; i++)
		if (mu_range_has(glibc->bins[i], value))
			return true;
	return false;
}

static bool
is_block(const struct mu_blocks *blocks, uintptr_t value)
{
	struct mu_block block;

	return mu_blocks_find(blocks, value, &block) &&
	    block.range.begin == value;
}

/* A pointer to a block's first byte belongs to the program, not to a list. */
static bool
is_link(const struct pair *pair, uintptr_t value)
{
	if (is_bin(pair->glibc, value))
		return true;
	return value % MU_GRAIN == 0 &&
	    mu_blocks_span(pair->blocks, value) != NULL &&
	    !is_block(pair->blocks, value);
}

static bool
is_repeated(const struct pair *pair, uintptr_t other_address)
{
	const uintptr_t *words = pair->words;
	uintptr_t other[2];
	bool same[2];

	if (!read_pair(&pair->in, other_address, other))
		return false;
	same[0] = words[0] == other[0];
	same[1] = words[1] == other[1];
	if (same[0] && same[1])
		return true;
	/* The head is in fd or bk, the first pair. */
	if (other_address > pair->address)
		memcpy(other, words, sizeof(other));
	return (same[0] && is_bin(pair->glibc, other[1])) ||
	    (same[1] && is_bin(pair->glibc, other[0]));
}

/* The size in a size word; 0 if it cannot be that of a chunk in a heap. */
static size_t
size_of_chunk(uintptr_t size, size_t min)
{
	size_t bytes = size & ~(uintptr_t)MU_SIZE_FLAGS;

	if ((size & MU_IS_MMAPPED) != 0 || bytes % MU_GRAIN != 0 || bytes < min)
		return 0;
	return bytes;
}

/*
 * True if a chunk of at least MIN bytes began at CHUNK, inside the block. It
 * had PREV_INUSE set while it was free, since free chunks are never adjacent.
 */
static bool
was_chunk(const struct pair *pair, uintptr_t chunk, size_t min)
{
	/* The chunk after this block begins here. */
	uintptr_t end = pair->in.range.end - WORD, size;
	size_t bytes, i;

	for (i = 0; i < MAX_SIZES && chunk < end; i++) {
		if (!read_word(&pair->in, chunk + SIZE, &size) ||
		    (i == 0 && (size & MU_PREV_INUSE) == 0))
			return false;
		bytes = size_of_chunk(size, i == 0 ? min : MU_GLIBC_MINSIZE);
		if (bytes == 0 || __builtin_add_overflow(chunk, bytes, &chunk))
			return false;
	}
	return chunk == end ||
	    (chunk > end && is_block(pair->blocks, chunk + MU_GLIBC_HEADER));
}

/*
 * True if VALUE, at ADDRESS inside a block, is an old link; it points where a
 * link may point.
 */
static bool
is_left_over(const struct mu_glibc *glibc, const struct mu_blocks *blocks,
    uintptr_t address, uintptr_t value)
{
	struct pair pair = { .glibc = glibc,
		.blocks = blocks,
		.address = address & ~(uintptr_t)(MU_GRAIN - 1) };
	uintptr_t other;

	if (!mu_blocks_find(blocks, address, &pair.in) ||
	    !read_pair(&pair.in, pair.address, pair.words))
		return false;
	other = pair.words[address == pair.address];
	if (other == value && value + LARGE_LINKS == pair.address)
		return true;
	if (!is_link(&pair, other))
		return false;
	return is_repeated(&pair, pair.address - LINKS) ||
	    is_repeated(&pair, pair.address + LINKS) ||
	    was_chunk(&pair, pair.address - LINKS, MU_GLIBC_MINSIZE) ||
	    was_chunk(&pair, pair.address - LARGE_LINKS, MIN_LARGE);
}

/* A link points at TO's last word, where the next chunk begins. */
enum mu_heap_link
mu_glibc_old_link(const struct mu_heap_member *member,
    const struct mu_blocks *blocks, uintptr_t address, uintptr_t value,
    const struct mu_block *to)
{
	if (value % MU_GRAIN != 0 || to->listed != NULL ||
	    value != to->range.end - WORD)
		return MU_HEAP_NO_LINK;
	return !blocks->last_words && address % WORD == 0 &&
		is_left_over(member->state, blocks, address, value)
	    ? MU_HEAP_OLD_LINK
	    : MU_HEAP_LINK;
}
