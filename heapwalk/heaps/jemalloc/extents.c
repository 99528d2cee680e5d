/*
 * The radix tree (tree.c) maps the pages of extents to their edata_t: all
 * pages of a slab, the first and the last of any other extent, in use or free.
 * An extent is taken at its first page, and all its pages must agree.
 */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/view.h"

/* What a leaf of the tree has for a page. */
struct leaf {
	uintptr_t edata;
	unsigned state, class;
	bool slab;
};

/* Bits of the slab's bitmap are set for free regions. */
static const char *
read_slab(struct mu_je_walk *walk, struct mu_je_extent *extent,
    const char *edata, uint64_t bits)
{
	size_t size = extent->size, i, regions;
	unsigned free = 0, last;
	uint64_t word;

	regions = mu_range_size(extent->range) / size;
	if (extent->index >= walk->je.sizes->bins || regions == 0 ||
	    regions > MU_JE_REGIONS_MAX)
		return "a slab of an impossible size";
	if (extent->begin != extent->range.begin)
		return "a slab that does not begin with a page";
	if (MU_JE_EDATA_SHARD(bits) != 0)
		walk->option = "bin_shards";
	extent->regions = (uint16_t)regions;
	for (i = 0; i < MU_JE_REGIONS_MAX / 64; i++) {
		word =
		    mu_view_word(edata + MU_JE_EDATA_BITMAP + i * sizeof(word));
		if (i * 64 >= regions)
			break;
		last =
		    regions - i * 64 < 64 ? (unsigned)(regions - i * 64) : 64;
		extent->live[i] = ~word;
		if (last < 64 && (word >> last) != 0)
			return "bits of regions that the slab does not have";
		if (last < 64)
			extent->live[i] &= (1ull << last) - 1;
		free += last - mu_popcount(extent->live[i]);
	}
	return free == MU_JE_EDATA_FREE(bits) ? NULL
					      : "a bitmap that its count of"
						" free regions contradicts";
}

/* Can the block be its extent but for PADDING bytes? */
static bool
is_padded(const struct mu_je_walk *walk, const struct mu_je_extent *extent,
    size_t padding)
{
	size_t size = mu_range_size(extent->range) - padding;
	size_t before = extent->index == 0
	    ? 0
	    : mu_je_class_size(walk->je.sizes, extent->index - 1u);

	return extent->begin - extent->range.begin <= padding &&
	    (size == extent->size ||
		(walk->je.release->pages && size > before &&
		    size < extent->size));
}

/*
 * A large block begins anywhere in its first page, and its extent has one more,
 * if and only if opt.cache_oblivious is set: all large blocks tell.
 */
static const char *
read_large(struct mu_je_walk *walk, struct mu_je_extent *extent)
{
	unsigned i;

	extent->regions = 1;
	extent->live[0] = 1;
	/* arena_prof_promote(): a sampled block. */
	if (extent->index < walk->je.sizes->bins) {
		walk->option = "prof";
		return NULL;
	}
	for (i = 0; i < 2; i++)
		if (!is_padded(walk, extent, i * MU_JE_PAGE))
			walk->paddings &= ~(1u << i);
	return walk->paddings != 0 ? NULL : "a size that its class contradicts";
}

/* Where nothing tells, the option is set, as it is by default. */
void
mu_je_large_size(struct mu_je_walk *walk)
{
	size_t padding = (walk->paddings & 2) != 0 ? MU_JE_PAGE : 0;
	struct mu_je_extent *extent = walk->extents;
	const struct mu_je_extent *end = extent + walk->num_extents;

	for (; extent < end; extent++)
		if (extent->active && !extent->slab)
			extent->size = mu_range_size(extent->range) - padding;
}

/* The edata_t at ADDRESS. Returns NULL, or what is wrong with it. */
static const char *
read_extent(struct mu_je_walk *walk, uintptr_t address,
    struct mu_je_extent *extent, uint64_t *bits)
{
	const char *edata;
	uintptr_t size;

	*extent = (struct mu_je_extent) { .active = false };
	edata = mu_ranges_has(&walk->bases, address)
	    ? mu_snapshot_view(walk->snap, address, MU_JE_EDATA_SIZE)
	    : NULL;
	if (edata == NULL)
		return "no description";
	*bits = mu_je_edata_bits(walk->je.release, mu_view_word(edata));
	extent->begin = mu_view_word(edata + MU_JE_EDATA_ADDR);
	size = mu_view_word(edata + MU_JE_EDATA_BYTES) &
	    ~(uintptr_t)(MU_JE_PAGE - 1);
	extent->range.begin = extent->begin & ~(uintptr_t)(MU_JE_PAGE - 1);
	if (size == 0 ||
	    __builtin_add_overflow(
		extent->range.begin, size, &extent->range.end))
		return "an impossible size";
	extent->arena = MU_JE_EDATA_ARENA(*bits);
	if (extent->arena >= walk->je.num_arenas ||
	    walk->arenas[extent->arena] == 0)
		return "no arena";
	if (MU_JE_EDATA_HPA(*bits))
		walk->option = "hpa";
	if (MU_JE_EDATA_STATE(*bits) > MU_JE_RETAINED)
		return "a state in which it is being changed";
	extent->active = MU_JE_EDATA_STATE(*bits) == MU_JE_ACTIVE;
	extent->slab = MU_JE_EDATA_SLAB(*bits) && extent->active;
	extent->index = MU_JE_EDATA_CLASS(*bits);
	if (!extent->active)
		return NULL;
	if (extent->index >= walk->je.sizes->classes)
		return "no size class";
	extent->size = mu_je_class_size(walk->je.sizes, extent->index);
	return extent->slab ? read_slab(walk, extent, edata, *bits)
			    : read_large(walk, extent);
}

/* An address of 57 bits leaves no room for the rest: rtree_leaf_elm_t. */
static struct leaf
read_entry(const struct mu_je_walk *walk, const char *view)
{
	uint64_t word = mu_view_word(view), more;

	if (walk->je.tree->entry == sizeof(word))
		return (struct leaf) { MU_JE_LEAF_EDATA(word),
			MU_JE_LEAF_STATE(word), MU_JE_LEAF_CLASS(word),
			MU_JE_LEAF_SLAB(word) };
	more = mu_view_word(view + sizeof(word));
	if (walk->je.release->extents)
		return (struct leaf) { word, 0, MU_JE_LEAF_CLASS_EXTENT(more),
			MU_JE_LEAF_SLAB_EXTENT(more) };
	return (struct leaf) { word, MU_JE_LEAF_STATE(more),
		MU_JE_LEAF_CLASS_WIDE(more), MU_JE_LEAF_SLAB(more) };
}

/*
 * The entry of the leaf for PAGE must agree with the extent's edata_t. The size
 * class is not set at the last page of a large block (emap_remap()).
 */
static bool
agrees(const struct mu_je_walk *walk, const struct mu_je_extent *extent,
    uintptr_t page, const struct leaf *leaf, uint64_t bits)
{
	return (walk->je.release->extents ||
		   leaf->state == MU_JE_EDATA_STATE(bits)) &&
	    (!extent->active ||
		(!extent->slab && page != extent->range.begin) ||
		(leaf->class == extent->index && leaf->slab == extent->slab));
}

static enum mu_status
wrong(const struct mu_je_walk *walk, uintptr_t page, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "jemalloc: the extent of page %p has %s", (void *)page, rule);
}

enum mu_status
mu_je_page_take(struct mu_je_walk *walk, const char *view, uintptr_t page)
{
	struct leaf leaf = read_entry(walk, view);
	struct mu_je_extent extent, *last = NULL;
	const char *rule;
	uint64_t bits;

	if (leaf.edata == 0)
		return MU_OK;
	if (walk->num_extents > 0)
		last = &walk->extents[walk->num_extents - 1];
	rule = read_extent(walk, leaf.edata, &extent, &bits);
	if (rule == NULL && !agrees(walk, &extent, page, &leaf, bits))
		rule = "an entry in the tree that differs from it";
	if (walk->option != NULL)
		return mu_why(walk->why, MU_ERR_FOREIGN_ALLOCATOR,
		    "this process uses jemalloc with its option %s, with which"
		    " it cannot be read",
		    walk->option);
	if (rule != NULL)
		return wrong(walk, page, rule);
	if (page != extent.range.begin)
		return last != NULL && mu_range_has(extent.range, page) &&
			last->range.begin == extent.range.begin &&
			last->range.end == extent.range.end
		    ? MU_OK
		    : wrong(walk, page, "its first page elsewhere");
	if (last != NULL && last->range.end > page)
		return wrong(walk, page, "an overlap with the one before");
	if (!mu_arena_room(walk->memory, walk->extents, walk->num_extents,
		walk->max_extents, 256) ||
	    walk->extents == NULL)
		return mu_heap_no_memory(walk->why);
	walk->extents[walk->num_extents++] = extent;
	return MU_OK;
}

/* The extent with a live block that has ADDRESS, and the block's number. */
static struct mu_je_extent *
find_block(const struct mu_je_walk *walk, uintptr_t address, size_t *region)
{
	size_t i = mu_ranges_upper(
	    walk->extents, walk->num_extents, sizeof(*walk->extents), address);
	struct mu_je_extent *extent;

	if (i == 0)
		return NULL;
	extent = &walk->extents[i - 1];
	if (!extent->active || address < extent->begin)
		return NULL;
	*region = (address - extent->begin) / extent->size;
	return *region < extent->regions &&
		(extent->live[*region / 64] >> (*region % 64) & 1) != 0
	    ? extent
	    : NULL;
}

uintptr_t
mu_je_begin(const struct mu_je_walk *walk, uintptr_t address)
{
	size_t region;
	const struct mu_je_extent *extent = find_block(walk, address, &region);

	return extent == NULL ? 0 : extent->begin + region * extent->size;
}

const struct mu_je_extent *
mu_je_take(struct mu_je_walk *walk, uintptr_t address, unsigned index)
{
	size_t region;
	struct mu_je_extent *extent = find_block(walk, address, &region);

	if (extent == NULL ||
	    address != extent->begin + region * extent->size ||
	    (index != MU_JE_CLASSES_MAX && index != extent->index))
		return NULL;
	extent->live[region / 64] &= ~(1ull << (region % 64));
	return extent;
}
