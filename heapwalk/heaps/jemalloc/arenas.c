/* Arenas, and the bases in which jemalloc's tables lie (arena_t, base_t). */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/listing.h"

#define BLOCKS_MAX 4096 /* of one base; each is larger than the last */
#define NODES_MAX ((size_t)1 << 16)
#define WORD sizeof(uintptr_t)

bool
mu_je_is_arena(const struct mu_snapshot *snap,
    const struct mu_je_release *release, uintptr_t address, size_t index)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	uintptr_t base, block, ind;

	if (address % MU_JE_CACHELINE != 0 || mapping == NULL ||
	    mapping->inode != 0 || !mapping->readable || !mapping->writable ||
	    mapping->range.end - address < mu_je_arena_size(release))
		return false;
	base = mu_word_at(snap, address + release->base);
	ind = release->extents ? base : address + release->ind;
	mapping = mu_snapshot_mapping(snap, base);
	if (base % MU_JE_CACHELINE != 0 || mapping == NULL ||
	    (uint32_t)mu_word_at(snap, ind) != index)
		return false;
	block = mu_word_at(snap, base + release->base_blocks);
	return block != 0 && block % MU_JE_BLOCK_UNIT == 0 &&
	    mu_snapshot_mapping(snap, block) != NULL;
}

/* Read the blocks of the arena's base, in which its tables lie. */
static enum mu_status
read_base(struct mu_je_walk *walk, uintptr_t arena)
{
	const struct mu_je_tree *tree = walk->je.tree;
	uintptr_t base = mu_word_at(walk->snap, arena + walk->je.release->base);
	uintptr_t block =
	    mu_word_at(walk->snap, base + walk->je.release->base_blocks);
	struct mu_range range;
	size_t size, steps;

	for (steps = 0; block != 0; steps++) {
		size = mu_word_at(walk->snap, block);
		if (steps == BLOCKS_MAX || block % MU_JE_BLOCK_UNIT != 0 ||
		    size == 0 || size % MU_JE_BLOCK_UNIT != 0 ||
		    __builtin_add_overflow(block, size, &range.end) ||
		    mu_snapshot_mapping(walk->snap, block) == NULL)
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "jemalloc: base %p: no block can be at %p",
			    (void *)base, (void *)block);
		range.begin = block;
		if (!mu_ranges_add(&walk->bases, range))
			return mu_heap_no_memory(walk->why);
		walk->nodes += size / (tree->entry << tree->leaf);
		if (tree->node > 0)
			walk->nodes += size / (WORD << tree->node);
		/* The sizes are the subject's: 2^16 leaves are for 8 TiB. */
		if (walk->nodes > NODES_MAX)
			walk->nodes = NODES_MAX;
		block = mu_word_at(walk->snap, block + sizeof(uintptr_t));
	}
	return MU_OK;
}

enum mu_status
mu_je_arenas_read(struct mu_je_walk *walk)
{
	enum mu_status status = MU_OK;
	uintptr_t arena;
	size_t i;

	walk->arenas = mu_arena_alloc(
	    walk->memory, walk->je.num_arenas, sizeof(*walk->arenas));
	if (walk->arenas == NULL)
		return mu_heap_no_memory(walk->why);
	for (i = 0; status == MU_OK && i < walk->je.num_arenas; i++) {
		arena =
		    mu_word_at(walk->snap, walk->je.arenas + i * sizeof(arena));
		if (arena == 0)
			continue;
		if (!mu_je_is_arena(walk->snap, walk->je.release, arena, i))
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "jemalloc: %p is not arena %zu", (void *)arena, i);
		walk->arenas[i] = arena;
		status = read_base(walk, arena);
	}
	mu_ranges_seal(&walk->bases);
	return status;
}
