/*
 * Find jemalloc without symbols: Debian's library has none.
 *
 * arenas[] (jemalloc.c) is a variable. An element of it leads to an arena that
 * has its number and a base_t with blocks at multiples of 2 MiB. A copy of
 * the first pointer (a0) is found as well; it is followed by other variables.
 */
#include <string.h>

#include "heapwalk/heaps/glibc/messages.h"
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/subject/classify.h"

/* Only files that have as much of .bss can have the tree's root there. */
#define BSS_MIN ((size_t)8 << 15)

static const struct mu_je_sizes all_sizes[] = {
	{ .quantum = 16, .bins = 36, .classes = 232 },
	{ .quantum = 8, .bins = 39, .classes = 235 },
};

/* Base is behind the addresses of as many bins. */
#define RELEASE_5_2_1(num_bins)                                          \
	{                                                                \
		.extents = true, .internal = 104, .large = 768,          \
		.large_size = 48, .tcaches = 10184, .bins = 29192,       \
		.base = 29192 + 8 * (num_bins), .lock = 64,              \
		.bin_regions = 160, .bin_slabs = 200, .base_blocks = 144 \
	}

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
	    .bin_regions = 136,
	    .bin_slabs = 176,
	    .base_blocks = 160,
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
	    .bin_regions = 136,
	    .bin_slabs = 176,
	    .base_blocks = 160,
	    .slow = 76,
	    .slow_bin = 4,
	    .tcache_large = 5,
	    .stacks_end = MU_JE_STACKS_BEGIN + 1,
	    .pages = true },
	RELEASE_5_2_1(36),
	RELEASE_5_2_1(39),
};
#define NUM_RELEASES (sizeof(releases) / sizeof(*releases))

struct search {
	const struct mu_snapshot *snap;
	struct mu_range data; /* .data and .bss of one file */
	uintptr_t first;      /* the last address of an arena 0 that was seen */
	struct mu_jemalloc *found;
};

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

static bool
see_arena(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_je_release *release = releases;
	const struct mu_je_release *end = releases + NUM_RELEASES;
	size_t count;

	while (release < end && !mu_je_is_arena(search->snap, release, word, 0))
		release++;
	if (release == end)
		return true;
	search->first = word;
	search->found->release = release;
	count = count_arenas(search, release, at);
	if (count > 0 && count >= search->found->num_arenas) {
		search->found->arenas = at;
		search->found->num_arenas = count;
	}
	return true;
}

/* True if the bin_info_t at AT is that of regions of SIZE bytes. */
static bool
is_info(const struct search *search, uintptr_t at, size_t size)
{
	uintptr_t slab = mu_word_at(search->snap, at + MU_JE_INFO_SLAB);
	uint32_t regions =
	    (uint32_t)mu_word_at(search->snap, at + MU_JE_INFO_REGIONS);

	return mu_word_at(search->snap, at) == size && slab > 0 &&
	    slab % MU_JE_PAGE == 0 && slab == size * regions;
}

/* bin_infos[]: the third of the smallest classes tells the quantum. */
static bool
see_infos(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	size_t i;

	if (word != 8 || !is_info(search, at, 8) ||
	    !is_info(search, at + MU_JE_INFO_SIZE, 16))
		return true;
	for (i = 0; i < sizeof(all_sizes) / sizeof(*all_sizes); i++)
		if (is_info(search, at + 2 * MU_JE_INFO_SIZE,
			16 + all_sizes[i].quantum))
			search->found->sizes = &all_sizes[i];
	return true;
}

static bool
data_of(const struct mu_snapshot *snap, const struct mu_mapping *mapping,
    struct mu_range *data)
{
	return mu_heap_variables(snap, mapping, data) &&
	    data->end - mapping->range.end >= BSS_MIN - MU_JE_PAGE;
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

	*found = (struct mu_jemalloc) { .found.file = NULL };
	for (; mapping < end && search.first == 0; mapping++) {
		if (!data_of(snap, mapping, &search.data) ||
		    !mu_glibc_message_is(snap, mapping, "jemalloc"))
			continue;
		mu_each_word(snap, search.data, see_arena, &search);
		file = mapping;
	}
	if (search.first == 0 || file == NULL)
		return MU_OK;
	mu_je_tree_find(found, snap, search.data, search.first);
	mu_each_word(snap, search.data, see_infos, &search);
	if (found->num_arenas == 0 || found->root == 0 || found->sizes == NULL)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "jemalloc: arena %p is in no array of arenas, its extents"
		    " are in no tree, or its size classes in no table",
		    (void *)search.first);
	if (found->release->extents)
		mu_je_tsd_find(found, snap, search.data);
	if (is_twice(snap, file))
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "%s is loaded twice, with a heap each, which cannot be"
		    " told apart",
		    mu_path_base(file->name));
	found->found.file = file;
	return MU_OK;
}
