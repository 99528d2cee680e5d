/*
 * Free-list links that outlived their list.
 *
 * Evidence, for a pair of words that may be fd and bk of a chunk X:
 * - The other word is the head of a free list. No program keeps that.
 * - fd->bk is bk, or bk->fd is fd: taking X off its list made its neighbours
 *   point at each other (unlink_chunk() in glibc's malloc.c). They no longer
 *   point at X: of 135,000 left-over links that churn made on glibc 2.36, not
 *   one had a neighbour that did; 14 to 30 % had neighbours that met, 27 to
 *   66 % had one or the other.
 * - It is the header of the chunk that the word lies in, where fd_nextsize and
 *   bk_nextsize are: the only large chunk of its size and list points at
 *   itself. No program keeps the address of its block's own header there.
 * Words of the two nextsize links meet as fd and bk do.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/links.h"

#include <string.h>

/*
 * struct malloc_chunk: prev_size, size, fd, bk, fd_nextsize, bk_nextsize. The
 * user's bytes begin at fd, so both pairs are at a multiple of MU_GRAIN.
 */
#define FD 16
#define BK 24
#define FD_NEXTSIZE 32
#define BK_NEXTSIZE 40
#define WORD sizeof(uintptr_t)

/* False unless all of the word is in a span. */
static bool
word_is(const struct mu_blocks *blocks, uintptr_t address, uintptr_t value)
{
	const struct mu_span *span = mu_blocks_span(blocks, address);
	uintptr_t word;

	if (span == NULL || span->range.end - address < WORD)
		return false;
	memcpy(&word, span->view + (address - span->range.begin), WORD);
	return word == value;
}

static bool
is_bin(const struct mu_blocks *blocks, uintptr_t value)
{
	size_t i;

	for (i = 0; i < blocks->num_bins; i++)
		if (mu_range_has(blocks->bins[i], value))
			return true;
	return false;
}

bool
mu_link_stale(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t value, const struct mu_block *to)
{
	uintptr_t pair = address & ~(uintptr_t)(MU_GRAIN - 1), fd, bk, other;
	const struct mu_span *span;

	if (to->mark == NULL || value != to->range.end - WORD)
		return false;
	if (value + FD_NEXTSIZE == pair)
		return true;
	span = mu_blocks_span(blocks, pair);
	if (span == NULL || span->range.end - pair < 2 * WORD)
		return false;
	memcpy(&fd, span->view + (pair - span->range.begin), WORD);
	memcpy(&bk, span->view + (pair - span->range.begin) + WORD, WORD);
	other = address == pair ? bk : fd;
	if (is_bin(blocks, other))
		return true;
	/* Not a number that happens to be in both places. */
	if (other < blocks->envelope.begin || other % WORD != 0)
		return false;
	return word_is(blocks, fd + BK, bk) || word_is(blocks, bk + FD, fd) ||
	    word_is(blocks, fd + BK_NEXTSIZE, bk) ||
	    word_is(blocks, bk + FD_NEXTSIZE, fd);
}
