/*
 * A ring that returns too early, or a chain of heaps that ends too early,
 * breaks no rule. The omitted heaps would count as ordinary memory, and every
 * word in them as a root. But heaps can be recognised: they lie at multiples of
 * their greatest size, and name their arena, whose ring leads to the main one.
 */
#include "heapwalk/heaps/glibc/strays.h"

#include "heapwalk/subject/classify.h"

#define HEAP_SIZE 16 /* heap_info: ar_ptr, prev, size */
#define RING_MAX 65536

/* The malloc of a second libc has heaps, too, but its ring leads elsewhere. */
static bool
leads_to_ring(const struct mu_glibc_walk *walk, uintptr_t arena)
{
	const struct mu_glibc *glibc = &walk->glibc;
	uintptr_t mask = glibc->heap_max - 1;
	size_t steps, i;

	for (steps = 0; steps < RING_MAX; steps++) {
		for (i = 0; i < glibc->num_arenas; i++)
			if (arena == glibc->arenas[i])
				return true;
		if ((arena & mask) != glibc->layout->heap_header ||
		    mu_glibc_arena_word(walk, arena & ~mask, 0) != arena)
			return false;
		arena =
		    mu_glibc_arena_word(walk, arena, glibc->layout->arena_next);
	}
	return false;
}

static bool
is_heap(const struct mu_glibc_walk *walk, uintptr_t heap, uintptr_t end)
{
	size_t size = mu_glibc_arena_word(walk, heap, HEAP_SIZE);

	return size % walk->snap->memory.page_size == 0 && size > 0 &&
	    size <= walk->glibc.heap_max && size <= end - heap &&
	    leads_to_ring(walk, mu_glibc_arena_word(walk, heap, 0));
}

enum mu_status
mu_glibc_strays_check(const struct mu_glibc_walk *walk)
{
	const struct mu_mapping *mapping = walk->snap->mappings;
	const struct mu_mapping *end = mapping + walk->snap->num_mappings;
	uintptr_t mask = walk->glibc.heap_max - 1, heap;

	for (; mapping < end; mapping++) {
		if (!mu_mapping_is_anonymous(mapping) || !mapping->readable ||
		    !mapping->writable)
			continue;
		heap = (mapping->range.begin + mask) & ~mask;
		for (;
		     heap >= mapping->range.begin && heap < mapping->range.end;
		     heap += mask + 1) {
			if (mu_ranges_has(&walk->stretches, heap) ||
			    !mu_glibc_written(walk, heap) ||
			    !is_heap(walk, heap, mapping->range.end))
				continue;
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "heap %p: no arena of the ring leads to it",
			    (void *)heap);
		}
	}
	return MU_OK;
}
