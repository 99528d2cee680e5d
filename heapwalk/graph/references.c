#include "heapwalk/graph/references.h"

#include "heapwalk/heaps/heap.h"
#include "heapwalk/heaps/spans.h"

enum mu_heap_link
mu_reference_link(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t value, const struct mu_block *to)
{
	if (address == 0 || to->heap == NULL || to->heap->ops->link == NULL)
		return MU_HEAP_NO_LINK;
	return to->heap->ops->link(to->heap, blocks, address, value, to);
}

bool
mu_reference_find(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t word, struct mu_block *to)
{
	uintptr_t value = mu_reference_untag(blocks, word);

	if (!mu_blocks_find(blocks, value, to))
		return false;
	/* A word with tags is not a link of an allocator. */
	return value != word ||
	    mu_reference_link(blocks, address, value, to) != MU_HEAP_OLD_LINK;
}

bool
mu_reference_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to)
{
	const struct mu_heap_member *heap = blocks->heaps;
	size_t i;

	for (i = 0; !blocks->no_headers && i < blocks->num_heaps; i++)
		if (heap[i].ops->refers_by_header != NULL &&
		    heap[i].ops->refers_by_header(blocks, word, to))
			return true;
	return false;
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
