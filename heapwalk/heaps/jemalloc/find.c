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
#define BSS_MIN ((size_t)8 << 15)

#define BASE_BLOCKS 128 /* of the first arena's base that are searched */
#define ROOTS_MAX 64    /* places where a tree may be */

static const struct mu_je_sizes all_sizes[] = {
	{ .quantum = 16, .bins = 36, .classes = 232 },
	{ .quantum = 8, .bins = 39, .classes = 235 },
};

static const struct mu_je_release releases[] = {
	/* 5.3.0 */
	{ .internal = 56,
	    .large = 976,
	    .large_size = 48,
	    .tcaches = 10392,
	    .ind = 78928,
	    .base = 78936,
	    .bins = 78952,
	    .lock = 64,
	    .locked = 104,
	    .slow = 52,
	    .slow_bin = 3,
	    .tcache_large = 37,
	    .stacks_end = 0xa7a7a7a7a7a7a7a7 },
	/* 5.3.1 */
	{ .internal = 72,
	    .large = 992,
	    .large_size = 56,
	    .tcaches = 11976,
	    .ind = 80640,
	    .base = 80648,
	    .bins = 80704,
	    .lock = 72,
	    .locked = 64,
	    .slow = 76,
	    .slow_bin = 4,
	    .tcache_large = 5,
	    .stacks_end = MU_JE_STACKS_BEGIN + 1,
	    .pages = true },
};

#define NUM_RELEASES (sizeof(releases) / sizeof(*releases))

static const struct mu_je_tree trees[] = {
	{ .root = 18, .leaf = 18, .entry = 8 },
	{ .root = 15, .node = 15, .leaf = 15, .entry = 16 },
};
#define NUM_TREES (sizeof(trees) / sizeof(*trees))

struct search {
	const struct mu_snapshot *snap;
	struct mu_range data; /* .data and .bss of one file */
	uintptr_t first;      /* the last address of an arena 0 that was seen */
	struct mu_jemalloc *found;

	/* The tree that is tried, and which of its root's words lead on. */
	unsigned num_roots;
	const struct mu_je_tree *tree;
	bool has_child, has_other;
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
mu_je_is_arena(const struct mu_snapshot *snap,
    const struct mu_je_release *release, uintptr_t address, size_t index)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	uintptr_t base, block;

	if (address % MU_JE_CACHELINE != 0 || mapping == NULL ||
	    mapping->inode != 0 || !mapping->readable || !mapping->writable ||
	    mapping->range.end - address < mu_je_arena_size(release) ||
	    (uint32_t)mu_je_word(snap, address + release->ind) != index)
		return false;
	base = mu_je_word(snap, address + release->base);
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
count_arenas(const struct search *search, const struct mu_je_release *release,
    uintptr_t at)
{
	size_t i, count = 0;
	uintptr_t word;

	for (i = 0; i < MU_JE_ARENAS_MAX; i++, at += sizeof(word)) {
		if (at >= search->data.end ||
		    !mu_snapshot_word(search->snap, at, &word))
			return 0;
		if (word == 0)
			continue;
		if (!mu_je_is_arena(search->snap, release, word, i))
			return 0;
		count = i + 1;
	}
	return count;
}

static void
see_arena(struct search *search, uintptr_t at, uintptr_t word)
{
	const struct mu_je_release *release = releases;
	const struct mu_je_release *end = releases + NUM_RELEASES;
	size_t count;

	while (release < end && !mu_je_is_arena(search->snap, release, word, 0))
		release++;
	if (release == end)
		return;
	search->first = word;
	search->found->release = release;
	count = count_arenas(search, release, at);
	if (count > 0 && count >= search->found->num_arenas) {
		search->found->arenas = at;
		search->found->num_arenas = count;
	}
}

/*
 * True if ADDRESS is in a block of BASE, with ROOM behind it. Each block is
 * larger than the one before, so there are not many.
 */
static bool
has_room(const struct mu_snapshot *snap, uintptr_t base, uintptr_t address,
    size_t room)
{
	uintptr_t block = mu_je_word(snap, base + MU_JE_BASE_BLOCKS), size;
	unsigned steps;

	for (steps = 0; block != 0 && steps < BASE_BLOCKS; steps++) {
		size = mu_je_word(snap, block);
		if (address > block && address - block < size &&
		    size - (address - block) >= room)
			return true;
		block = mu_je_word(snap, block + sizeof(uintptr_t));
	}
	return false;
}

/* A leaf of the tree that is tried, or a node where it has such a level. */
static void
see_child(struct search *search, uintptr_t at, uintptr_t word)
{
	const struct mu_je_tree *tree = search->tree;
	uintptr_t base = mu_je_word(
	    search->snap, search->first + search->found->release->base);

	(void)at;
	if (has_room(search->snap, base, word,
		tree->node > 0 ? sizeof(word) << tree->node
			       : tree->entry << tree->leaf))
		search->has_child = true;
	else
		search->has_other = true;
}

static bool
is_root(struct search *search, uintptr_t root)
{
	size_t size = sizeof(root) << search->tree->root;

	if (root > search->data.end || search->data.end - root < size)
		return false;
	search->has_child = search->has_other = false;
	each_word(search, (struct mu_range) { root, root + size }, see_child);
	return search->has_child && !search->has_other;
}

static void
see_rtree(struct search *search, uintptr_t at, uintptr_t word)
{
	struct mu_jemalloc *found = search->found;
	size_t i;

	if (found->rtree != 0 ||
	    word !=
		mu_je_word(
		    search->snap, search->first + found->release->base) ||
	    search->num_roots++ >= ROOTS_MAX)
		return;
	for (i = 0; found->rtree == 0 && i < NUM_TREES; i++) {
		search->tree = &trees[i];
		if (is_root(search, at + MU_JE_RTREE_ROOT)) {
			found->rtree = at;
			found->tree = search->tree;
		}
	}
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
