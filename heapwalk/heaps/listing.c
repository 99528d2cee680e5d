#include "heapwalk/heaps/listing.h"

enum mu_status
mu_heap_no_memory(struct mu_why *why)
{
	return mu_why(
	    why, MU_ERR_NO_MEMORY, "no memory for the list of blocks");
}

enum mu_status
mu_heap_seal(struct mu_heap *heap, const char *name,
    const struct mu_ranges *owned, struct mu_why *why)
{
	size_t rejected = 0;
	enum mu_status status;

	if (owned != NULL &&
	    !mu_ranges_add_all(&heap->owned, owned->items, owned->count))
		return mu_heap_no_memory(why);
	mu_ranges_seal(&heap->owned);
	status = mu_blocks_seal(&heap->blocks, &rejected);
	if (status == MU_ERR_NO_MEMORY)
		return mu_heap_no_memory(why);
	if (status != MU_OK || rejected > 0)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "blocks of %s overlap each other or another heap", name);
	return MU_OK;
}
