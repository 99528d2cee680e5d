#include "heapwalk/graph/references.h"

#include "heapwalk/graph/stale_links.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/ranges.h"

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

bool
mu_references_find_code(struct mu_blocks *blocks,
    const struct mu_snapshot *snap, struct mu_arena *arena)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct mu_ranges code;

	mu_ranges_open(&code, arena);
	for (; mapping < end; mapping++) {
		if (mapping->executable &&
		    !mu_blocks_empty(blocks, mapping->range) &&
		    !mu_ranges_add(&code, mapping->range))
			return false;
	}
	mu_ranges_seal(&code);
	blocks->code = code.items;
	blocks->num_code = code.count;
	return true;
}

bool
mu_reference_in_code(const struct mu_blocks *blocks, struct mu_range range)
{
	size_t i;

	if (blocks->num_code == 0)
		return false;
	i = mu_ranges_upper(blocks->code, blocks->num_code,
	    sizeof(*blocks->code), range.end - 1);
	return i > 0 && blocks->code[i - 1].end > range.begin;
}
