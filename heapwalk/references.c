/*
 * Which words refer to which blocks: see heapwalk/references.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/references.h"

#include "heapwalk/links.h"

#define HEADER 16 /* struct malloc_chunk up to the user's bytes */

bool
mu_reference_find(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t word, struct mu_block *to)
{
	uintptr_t value = mu_reference_untag(blocks, word);

	if (!mu_blocks_find(blocks, value, to))
		return false;
	/* malloc's links have no tags and are where links belong. */
	return address == 0 || address % sizeof(word) != 0 || value != word ||
	    !mu_link_stale(blocks, address, value, to);
}

bool
mu_reference_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to)
{
	uintptr_t begin = word + HEADER;

	if (blocks->no_headers)
		return false;
	/* A header's first word may be used by the block before it. */
	if (mu_blocks_find(blocks, word, to) &&
	    to->range.end - word > sizeof(word))
		return false;
	return mu_range_has(blocks->envelope, begin) &&
	    mu_blocks_find(blocks, begin, to) && to->range.begin == begin;
}
