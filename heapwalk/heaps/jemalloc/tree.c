/*
 * Find the root of the radix tree (rtree_t.root[]) in the variables of
 * jemalloc's file, for addresses of 48 bits or of 57: a word in it leads to a
 * leaf or a node in the base of the first arena, and an entry below tells by
 * its extent for which addresses the word is. Every other word of the root
 * leads to such memory as well. Then read all its entries.
 */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/view.h"

#define WORD sizeof(uintptr_t)
#define BASE_BLOCKS 128      /* of the first arena's base that are searched */
#define CHILDREN_MAX 64      /* words that may lead to one */
#define LEAVES_MAX 256       /* of a node, until one has an extent */
#define STEPS_MAX (1u << 22) /* from block to block of the base, in all */

static const struct mu_je_tree trees[] = {
	{ .root = 18, .leaf = 18, .entry = 8 },
	{ .root = 15, .node = 15, .leaf = 15, .entry = 16 },
};
#define NUM_TREES (sizeof(trees) / sizeof(*trees))

struct search {
	const struct mu_snapshot *snap;
	struct mu_range data; /* the variables */
	uintptr_t base;       /* base_t of the first arena */
	struct mu_jemalloc *found;
	const struct mu_je_tree *tree; /* that is tried */
	unsigned num_children, num_leaves, steps;
	uintptr_t leaf, page; /* that is looked at, and a page's number in it */
	bool has_other;       /* the root has a word that is no child */
};

/*
 * True if ADDRESS is in a block of the base, with ROOM behind it. Each block is
 * larger than the one before, so there are not many.
 */
static bool
has_room(struct search *search, uintptr_t address, size_t room)
{
	size_t blocks = search->found->release->base_blocks;
	uintptr_t block = mu_word_at(search->snap, search->base + blocks), size;
	unsigned steps;

	for (steps = 0;
	     block != 0 && steps < BASE_BLOCKS && search->steps < STEPS_MAX;
	     steps++, search->steps++) {
		size = mu_word_at(search->snap, block);
		if (address > block && address - block < size &&
		    size - (address - block) >= room)
			return true;
		block = mu_word_at(search->snap, block + WORD);
	}
	return false;
}

/* A leaf, or a node if the tree has such a level. */
static bool
is_child(struct search *search, uintptr_t word)
{
	const struct mu_je_tree *tree = search->tree;

	return word % MU_JE_CACHELINE == 0 &&
	    has_room(search, word,
		tree->node > 0 ? WORD << tree->node
			       : tree->entry << tree->leaf);
}

/* The first entry of the leaf that has an extent. */
static bool
see_entry(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_je_tree *tree = search->tree;
	size_t offset = at - search->leaf;
	uintptr_t edata = tree->entry == WORD ? MU_JE_LEAF_EDATA(word) : word;
	uintptr_t page;

	if (offset % tree->entry != 0 || edata == 0)
		return true;
	page = mu_word_at(search->snap, edata + MU_JE_EDATA_ADDR) >>
	    MU_JE_PAGE_BITS;
	if (offset / tree->entry == (page & (((uintptr_t)1 << tree->leaf) - 1)))
		search->page = page;
	return false;
}

static bool
see_leaf(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_je_tree *tree = search->tree;

	(void)at;
	search->leaf = word;
	if (word % MU_JE_CACHELINE != 0 ||
	    !has_room(search, word, tree->entry << tree->leaf))
		return true;
	mu_each_word(search->snap,
	    (struct mu_range) { word, word + (tree->entry << tree->leaf) },
	    see_entry, search);
	return search->page == 0 && ++search->num_leaves < LEAVES_MAX;
}

/* The number of a page in the child of the root at ADDRESS; 0: unknown. */
static uintptr_t
page_in(struct search *search, uintptr_t address)
{
	search->page = search->num_leaves = 0;
	if (search->tree->node == 0)
		see_leaf(search, 0, address);
	else
		mu_each_word(search->snap,
		    (struct mu_range) {
			address, address + (WORD << search->tree->node) },
		    see_leaf, search);
	return search->page;
}

static bool
see_child(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;

	(void)at;
	search->has_other = !is_child(search, word);
	return !search->has_other;
}

static bool
is_root(struct search *search, uintptr_t root)
{
	size_t size = WORD << search->tree->root;

	if (root < search->data.begin || root > search->data.end ||
	    search->data.end - root < size)
		return false;
	search->has_other = false;
	mu_each_word(search->snap, (struct mu_range) { root, root + size },
	    see_child, search);
	return !search->has_other;
}

static bool
see_word(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_je_tree *tree = trees;
	uintptr_t index, root;

	for (; tree < trees + NUM_TREES; tree++) {
		search->tree = tree;
		if (!is_child(search, word) ||
		    search->num_children++ >= CHILDREN_MAX)
			continue;
		index = page_in(search, word) >> (tree->leaf + tree->node);
		root = at - index * WORD;
		if (search->page == 0 || index >> tree->root != 0 ||
		    !is_root(search, root))
			continue;
		search->found->root = root;
		search->found->tree = tree;
		return false;
	}
	return true;
}

void
mu_je_tree_find(struct mu_jemalloc *found, const struct mu_snapshot *snap,
    struct mu_range data, uintptr_t arena)
{
	struct search search = {
		.snap = snap,
		.data = data,
		.base = mu_word_at(snap, arena + found->release->base),
		.found = found,
	};

	mu_each_word(snap, data, see_word, &search);
}

static enum mu_status
wrong(const struct mu_je_walk *walk, uintptr_t first, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "jemalloc: what its tree has for page %p %s", (void *)first, rule);
}

/* An entry of the tree for the addresses from FIRST on is at VIEW. */
typedef enum mu_status taker(
    struct mu_je_walk *walk, const char *view, uintptr_t first);

/*
 * Call TAKE for the entries in RANGE that are not empty, each of SIZE bytes and
 * for 2^SHIFT addresses.
 */
static enum mu_status
each_entry(struct mu_je_walk *walk, struct mu_range range, size_t size,
    uintptr_t first, unsigned shift, taker *take)
{
	struct mu_memory *memory = (struct mu_memory *)&walk->snap->memory;
	uintptr_t begin = range.begin;
	enum mu_status status = MU_OK;
	struct mu_range part;
	const char *view;
	size_t at;

	for (; range.begin < range.end &&
	     memory->ops->populated(memory, range, &part);
	     range.begin = part.end) {
		view = mu_snapshot_view(
		    walk->snap, part.begin, mu_range_size(part));
		if (view == NULL)
			return wrong(walk, first, "cannot be read");
		for (at = 0;
		     status == MU_OK && at + size <= mu_range_size(part);
		     at += size) {
			if (mu_view_word(view + at) != 0)
				status = take(walk, view + at,
				    first +
					((part.begin + at - begin) / size
					    << shift));
		}
		if (status != MU_OK)
			return status;
	}
	return MU_OK;
}

/* The node or leaf whose address is at VIEW, with 2^BITS entries. */
static enum mu_status
each_child(struct mu_je_walk *walk, const char *view, unsigned bits,
    size_t size, uintptr_t first, unsigned shift, taker *take)
{
	struct mu_range range;

	range.begin = mu_view_word(view);
	range.end = range.begin + (size << bits);
	/* A hostile tree could have one leaf everywhere. */
	if (walk->nodes == 0 || range.begin % MU_JE_CACHELINE != 0 ||
	    !mu_ranges_has(&walk->bases, range.begin) ||
	    !mu_ranges_has(&walk->bases, range.end - 1))
		return wrong(walk, first, "is no memory of jemalloc");
	walk->nodes--;
	return each_entry(walk, range, size, first, shift, take);
}

static enum mu_status
read_leaf(struct mu_je_walk *walk, const char *view, uintptr_t first)
{
	const struct mu_je_tree *tree = walk->je.tree;

	return each_child(walk, view, tree->leaf, tree->entry, first,
	    MU_JE_PAGE_BITS, mu_je_page_take);
}

static enum mu_status
read_node(struct mu_je_walk *walk, const char *view, uintptr_t first)
{
	const struct mu_je_tree *tree = walk->je.tree;

	return each_child(walk, view, tree->node, WORD, first,
	    MU_JE_PAGE_BITS + tree->leaf, read_leaf);
}

enum mu_status
mu_je_extents_read(struct mu_je_walk *walk)
{
	const struct mu_je_tree *tree = walk->je.tree;
	uintptr_t root = walk->je.root;
	enum mu_status status;

	walk->paddings = 3;
	status = each_entry(walk,
	    (struct mu_range) { root, root + (WORD << tree->root) }, WORD, 0,
	    MU_JE_PAGE_BITS + tree->leaf + tree->node,
	    tree->node > 0 ? read_node : read_leaf);
	mu_je_large_size(walk);
	return status;
}
