/*
 * Find jemalloc without symbols: Debian's library has none.
 *
 * arenas[] (jemalloc.c) and arena_emap_global (arena.c) are variables. An
 * element of the first leads to an arena that has its number and a base_t with
 * blocks at multiples of 2 MiB; the second begins with the address of the
 * first arena's base_t, and its root leads into the blocks of that. A copy of
 * the first pointer (a0) is found as well; it is followed by other variables.
 */
#include <string.h>

#include "heapwalk/heaps/glibc/messages.h"
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/subject/classify.h"

/* Only files that have as much of .bss can have the tree's root there. */
#define BSS_MIN MU_JE_RTREE_BYTES

#define BASE_BLOCKS 128 /* of the first arena's base that are searched */

/* Quantum, bins, classes, bins of a tcache, and two offsets. */
static const struct mu_je_sizes all_sizes[] = {
	{ 16, 36, 232, 73, 160, 168 },
	{ 8, 39, 235, 76, 176, 184 },
};

struct search {
	const struct mu_snapshot *snap;
	struct mu_range data; /* .data and .bss of one file */
	uintptr_t first;      /* the last address of an arena 0 that was seen */
	struct mu_jemalloc *found;
};

/* Call VISIT for each word of RANGE that is not 0. */
static void
each_word(struct search *search, struct mu_range range,
    void (*visit)(struct search *search, uintptr_t at, uintptr_t word))
{
	struct mu_memory *memory = (struct mu_memory *)&search->snap->memory;
	struct mu_range part;
	const char *view;
	uintptr_t word;
	size_t at;

	for (; range.begin < range.end &&
	     memory->ops->populated(memory, range, &part);
	     range.begin = part.end) {
		view = mu_snapshot_view(
		    search->snap, part.begin, mu_range_size(part));
		for (at = 0; view != NULL && at < mu_range_size(part);
		     at += sizeof(word)) {
			memcpy(&word, view + at, sizeof(word));
			if (word != 0)
				visit(search, part.begin + at, word);
		}
	}
}

bool
mu_je_is_arena(const struct mu_snapshot *snap, uintptr_t address, size_t index)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	uintptr_t base, block;

	if (address % MU_JE_CACHELINE != 0 || mapping == NULL ||
	    mapping->inode != 0 || !mapping->readable || !mapping->writable ||
	    mapping->range.end - address < MU_JE_ARENA_SIZE ||
	    (uint32_t)mu_je_word(snap, address + MU_JE_ARENA_IND) != index)
		return false;
	base = mu_je_word(snap, address + MU_JE_ARENA_BASE);
	mapping = mu_snapshot_mapping(snap, base);
	if (base % MU_JE_CACHELINE != 0 || mapping == NULL ||
	    mapping->range.end - base < MU_JE_BASE_SIZE)
		return false;
	block = mu_je_word(snap, base + MU_JE_BASE_BLOCKS);
	return block != 0 && block % MU_JE_BLOCK_UNIT == 0 &&
	    mu_snapshot_mapping(snap, block) != NULL;
}

/* How many arenas the array at AT has if it is arenas[], else 0. */
static size_t
count_arenas(const struct search *search, uintptr_t at)
{
	size_t i, count = 0;
	uintptr_t word;

	for (i = 0; i < MU_JE_ARENAS_MAX; i++, at += sizeof(word)) {
		if (at >= search->data.end ||
		    !mu_snapshot_word(search->snap, at, &word))
			return 0;
		if (word == 0)
			continue;
		if (!mu_je_is_arena(search->snap, word, i))
			return 0;
		count = i + 1;
	}
	return count;
}

static void
see_arena(struct search *search, uintptr_t at, uintptr_t word)
{
	size_t count;

	if (!mu_je_is_arena(search->snap, word, 0))
		return;
	search->first = word;
	count = count_arenas(search, at);
	if (count > 0 && count >= search->found->num_arenas) {
		search->found->arenas = at;
		search->found->num_arenas = count;
	}
}

/*
 * True if ADDRESS is in a block of BASE, with room for a leaf behind it. Each
 * block is larger than the one before, so there are not many.
 */
static bool
is_leaf(const struct mu_snapshot *snap, uintptr_t base, uintptr_t address)
{
	uintptr_t block = mu_je_word(snap, base + MU_JE_BASE_BLOCKS), size;
	unsigned steps;

	for (steps = 0; block != 0 && steps < BASE_BLOCKS; steps++) {
		size = mu_je_word(snap, block);
		if (address > block && address - block < size &&
		    size - (address - block) >= MU_JE_RTREE_BYTES)
			return true;
		block = mu_je_word(snap, block + sizeof(uintptr_t));
	}
	return false;
}

static void
see_leaf(struct search *search, uintptr_t at, uintptr_t word)
{
	struct mu_jemalloc *found = search->found;
	uintptr_t base = mu_je_word(search->snap, found->rtree);

	(void)at;
	if (!is_leaf(search->snap, base, word))
		found->rtree = 0;
}

static void
see_rtree(struct search *search, uintptr_t at, uintptr_t word)
{
	uintptr_t root = at + MU_JE_RTREE_ROOT;
	struct mu_jemalloc *found = search->found;

	if (found->rtree != 0 ||
	    word !=
		mu_je_word(search->snap, search->first + MU_JE_ARENA_BASE) ||
	    root > search->data.end ||
	    search->data.end - root < MU_JE_RTREE_BYTES)
		return;
	found->rtree = at;
	each_word(search, (struct mu_range) { root, root + MU_JE_RTREE_BYTES },
	    see_leaf);
}

/* True if the bin_info_t at AT is that of regions of SIZE bytes. */
static bool
is_info(const struct search *search, uintptr_t at, size_t size)
{
	uintptr_t slab = mu_je_word(search->snap, at + MU_JE_INFO_SLAB);
	uint32_t regions =
	    (uint32_t)mu_je_word(search->snap, at + MU_JE_INFO_REGIONS);

	return mu_je_word(search->snap, at) == size && slab > 0 &&
	    slab % MU_JE_PAGE == 0 && slab == size * regions;
}

/* bin_infos[]: the third of the smallest classes tells the quantum. */
static void
see_infos(struct search *search, uintptr_t at, uintptr_t word)
{
	size_t i;

	if (word != 8 || !is_info(search, at, 8) ||
	    !is_info(search, at + MU_JE_INFO_SIZE, 16))
		return;
	for (i = 0; i < sizeof(all_sizes) / sizeof(*all_sizes); i++)
		if (is_info(search, at + 2 * MU_JE_INFO_SIZE,
			16 + all_sizes[i].quantum))
			search->found->sizes = &all_sizes[i];
}

/*
 * The variables of the file of MAPPING, which has its .data: .bss follows, in a
 * mapping without a name.
 */
static bool
data_of(const struct mu_snapshot *snap, const struct mu_mapping *mapping,
    struct mu_range *data)
{
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	const struct mu_mapping *next = mapping + 1;

	if (mapping->inode == 0 || !mapping->readable || !mapping->writable ||
	    mapping->shared || next == end || next->inode != 0 ||
	    !next->readable || !next->writable ||
	    next->range.begin != mapping->range.end || next->name[0] != '\0' ||
	    mu_range_size(next->range) < BSS_MIN - MU_JE_PAGE)
		return false;
	*data = (struct mu_range) { mapping->range.begin, next->range.end };
	return true;
}

static bool
has_messages(const struct mu_snapshot *snap, const struct mu_mapping *file)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	const char *name;

	for (; mapping < end; mapping++) {
		if (!mu_mapping_same_file(mapping, file))
			continue;
		name = mu_glibc_message_find(snap, mapping, true);
		if (name != NULL)
			return strcmp(name, "jemalloc") == 0;
	}
	return false;
}

/* The file is loaded once more (dlmopen()): that has a heap of its own. */
static bool
is_twice(const struct mu_snapshot *snap, const struct mu_mapping *file)
{
	const struct mu_mapping *mapping = file + 1;
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	struct mu_range data;

	for (; mapping < end; mapping++)
		if (mu_mapping_same_file(mapping, file) &&
		    data_of(snap, mapping, &data))
			return true;
	return false;
}

enum mu_status
mu_je_find(struct mu_jemalloc *found, const struct mu_snapshot *snap,
    struct mu_why *why)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct search search = { .snap = snap, .found = found };
	const struct mu_mapping *file = NULL;

	*found = (struct mu_jemalloc) { .file = NULL };
	for (; mapping < end && search.first == 0; mapping++) {
		if (!data_of(snap, mapping, &search.data) ||
		    !has_messages(snap, mapping))
			continue;
		each_word(&search, search.data, see_arena);
		file = mapping;
	}
	if (search.first == 0)
		return MU_OK;
	each_word(&search, search.data, see_rtree);
	each_word(&search, search.data, see_infos);
	if (found->num_arenas == 0 || found->rtree == 0 || found->sizes == NULL)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "jemalloc: arena %p is in no array of arenas, its extents"
		    " are in no tree, or its size classes in no table",
		    (void *)search.first);
	if (is_twice(snap, file))
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "%s is loaded twice, with a heap each, which cannot be"
		    " told apart",
		    mu_path_base(file->name));
	found->file = file;
	return MU_OK;
}
