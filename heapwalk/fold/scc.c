/*
 * Tarjan's algorithm as simplified by Pearce ("A space-efficient algorithm for
 * finding strongly connected components", 2016), with an explicit stack: one
 * number per tree, and one array for both the path (from its start) and the
 * trees whose component is still open (from its end), since a tree is never in
 * both.
 */
#include "heapwalk/fold/scc.h"

#include <string.h>

#include "heapwalk/fold/giant_scc.h"
#include "heapwalk/fold/peel.h"
#include "mu/bits.h"

/*
 * search.of: 0 if the tree was not seen yet; its order of discovery while its
 * component is open; then the component with this bit.
 */
#define CLOSED 0x80000000u
#define SOURCES_SHARE 16 /* one in so many trees */

#define FIRST_CLOSED UINT32_MAX /* of those that are not searched in depth */

/* Flag in the remaining edges: an older node is reachable. */
#define HAS_OLDER MU_EDGES_FREE_BIT

struct search {
	const struct mu_trees *trees;
	struct mu_deadline *deadline;
	struct mu_scc *scc;
	struct mu_numbers *numbers; /* order or component of each tree */
	uint32_t num_of;            /* entries */
	/*
	 * The path from the front, as the index at which each tree continues;
	 * open trees from the back.
	 */
	uint32_t *stack;
	uint32_t *edges; /* of the path: the next edge of each node */
	uint32_t room;   /* of both: trees that are searched, plus 1 */
	uint32_t depth, open, num_seen, num_components;
	struct mu_peel peel;
};

/* The order or component of TREE. */
static inline uint32_t *
of_tree(struct search *search, uint32_t tree)
{
	struct mu_numbers *numbers = search->numbers;

	return mu_number_left_out(numbers, tree)
	    ? &numbers->other
	    : &numbers->of[mu_number_index(numbers, tree)];
}

/* Enter TREE, which has edges; the first belong to the node at INDEX. */
static void
enter(struct search *search, uint32_t tree, uint32_t index)
{
	*of_tree(search, tree) = ++search->num_seen;
	search->stack[search->depth] = index;
	search->edges[search->depth] = mu_edges_first(
	    search->trees->lost, mu_tree_leader(search->trees, index));
	search->depth++;
}

/* The tree at DEPTH of the path. */
static uint32_t
tree_at(const struct search *search, uint32_t depth)
{
	return mu_tree_of(
	    search->trees, mu_tree_leader(search->trees, search->stack[depth]));
}

/* Close the component whose oldest tree is TREE, of order ORDER. */
static void
close_component(struct search *search, uint32_t tree, uint32_t order)
{
	uint32_t closed = CLOSED | search->num_components++, *component;

	for (; search->open < search->room; search->open++) {
		component = of_tree(search, search->stack[search->open]);
		if (*component < order)
			break;
		*component = closed;
	}
	*of_tree(search, tree) = closed;
}

/* All edges of the path's last tree were followed. */
static void
leave(struct search *search)
{
	uint32_t tree = tree_at(search, --search->depth);
	uint32_t order = *of_tree(search, tree), *parent;

	if ((search->edges[search->depth] & HAS_OLDER) == 0) {
		close_component(search, tree, order);
		return;
	}
	search->stack[--search->open] = tree;
	if (search->depth == 0)
		return;
	parent = of_tree(search, tree_at(search, search->depth - 1));
	if (order < *parent) {
		*parent = order;
		search->edges[search->depth - 1] |= HAS_OLDER;
	}
}

/* Follow edges from the path's last tree until one leads to a new tree. */
static void
follow(struct search *search)
{
	const struct mu_trees *trees = search->trees;
	uint32_t *last = &search->stack[search->depth - 1], target, index;
	uint32_t *at = &search->edges[search->depth - 1], *component;
	uint32_t *own = of_tree(search, tree_at(search, search->depth - 1));
	uint32_t older = *at & HAS_OLDER;
	struct mu_tree_edges edges = { .trees = trees, .index = *last };

	mu_edges_open(&edges.edges, trees->lost, mu_tree_leader(trees, *last),
	    *at & ~HAS_OLDER, search->deadline);
	while (mu_tree_edges_next(&edges, &target)) {
		component = of_tree(search, target);
		if (*component == 0) {
			index = mu_tree_first(trees, target);
			if (index == MU_NO_NODE) {
				*component = CLOSED | search->num_components++;
				continue;
			}
			*last = edges.index;
			*at = edges.edges.at | older;
			enter(search, target, index);
			return;
		}
		if (*component < *own) {
			*own = *component;
			older = HAS_OLDER;
		}
	}
	*at = older;
	leave(search);
}

/*
 * Search TREE, if it was not seen yet, and all that it leads to. Returns false
 * if the deadline has passed.
 */
static bool
search_from(struct search *search, uint32_t tree)
{
	uint32_t index;

	if (*of_tree(search, tree) != 0)
		return true;
	index = mu_tree_first(search->trees, tree);
	if (index == MU_NO_NODE) {
		*of_tree(search, tree) = CLOSED | search->num_components++;
		return true;
	}
	for (enter(search, tree, index); search->depth > 0;) {
		follow(search);
		if (search->deadline->passed)
			return false;
	}
	return true;
}

/*
 * First search what the giant component leads to outside of itself, then close
 * it: what leads to it may be left, too.
 */
static bool
search_giant(struct search *search)
{
	struct mu_scc *scc = search->scc;
	uint32_t num_trees = search->trees->num_trees, tree, base;
	uint64_t bits;

	for (base = 0; base < num_trees; base += 64) {
		bits = scc->below[base / 64] & ~scc->giant[base / 64];
		for (; bits != 0; bits &= bits - 1) {
			tree = base + (uint32_t)__builtin_ctzll(bits);
			if (!search_from(search, tree))
				return false;
		}
	}
	scc->ends = search->num_components == 0;
	scc->giant_number = search->num_components++;
	for (tree = 0; tree < num_trees; tree++)
		if (mu_bit(scc->giant, tree))
			*of_tree(search, tree) = CLOSED | scc->giant_number;
	return true;
}

static bool
search_all(struct search *search)
{
	uint32_t tree;

	if (search->scc->giant != NULL && !search_giant(search))
		return false;
	for (tree = 0; tree < search->trees->num_trees; tree++)
		if (!search_from(search, tree))
			return false;
	return !search->deadline->passed;
}

static uint32_t
count_members(const uint64_t *members, uint32_t num_trees)
{
	uint32_t i, count = 0;

	for (i = 0; i <= num_trees / 64; i++)
		count += mu_popcount(members[i]);
	return count;
}

static bool
alloc_of(struct search *search, uint32_t count, struct mu_arena *arena)
{
	search->num_of = count;
	search->numbers->of =
	    mu_arena_alloc_table(arena, count, sizeof(*search->numbers->of));
	return search->numbers->of != NULL;
}

static enum mu_status
peel(struct search *search, struct mu_arena *arena)
{
	struct mu_peel *peel = &search->peel;
	enum mu_status status;

	if (!alloc_of(search, search->trees->num_trees, arena))
		return MU_ERR_NO_MEMORY;
	peel->of = search->numbers->of;
	peel->next = FIRST_CLOSED;
	peel->deadline = search->deadline;
	status = mu_peel_open(peel, search->trees, arena);
	if (status == MU_OK)
		mu_peel(peel);
	return status;
}

/* Leave out the trees of MEMBERS: without them most of a table is spared. */
static bool
leave_out(
    struct search *search, const uint64_t *members, struct mu_arena *arena)
{
	uint32_t words = search->trees->num_trees / 64 + 1, i, *ranks;

	ranks = mu_arena_alloc(arena, words, sizeof(*ranks));
	if (ranks == NULL)
		return false;
	for (i = 1; i < words; i++)
		ranks[i] = ranks[i - 1] + mu_popcount(~members[i - 1]);
	*search->numbers = (struct mu_numbers) {
		.left_out = members, .ranks = ranks, .other = CLOSED
	};
	return true;
}

static bool
find_giant(struct search *search, struct mu_arena *arena)
{
	uint32_t num_trees = search->trees->num_trees;
	struct mu_scc *scc = search->scc;
	struct mu_giant_scc giant;

	if (search->peel.left < num_trees / MU_GIANT_SHARE ||
	    !mu_giant_scc_find(&giant, search->trees, arena, search->deadline))
		return true;
	scc->giant = giant.members;
	scc->below = giant.below;
	scc->giant_lowest = giant.lowest;
	search->peel.left -= count_members(giant.members, num_trees);
	return search->numbers->of != NULL ||
	    leave_out(search, giant.members, arena);
}

/*
 * Close what need not be searched in depth, and find the giant component. If
 * something leads to nearly each tree, little can be peeled.
 */
static enum mu_status
close_others(struct search *search, struct mu_arena *arena)
{
	enum mu_status status = MU_OK;

	if (search->trees->num_sources >=
	    search->trees->num_trees / SOURCES_SHARE)
		status = peel(search, arena);
	if (status == MU_OK && !find_giant(search, arena))
		status = MU_ERR_NO_MEMORY;
	return status;
}

/*
 * Number all components: those that were closed from the highest number down
 * follow those that were searched in depth.
 */
static void
number_closed(const struct search *search)
{
	struct mu_scc *scc = search->scc;
	uint32_t num_closed =
	    search->peel.next != 0 ? FIRST_CLOSED - search->peel.next : 0;
	uint32_t i, num_searched = search->num_components, shift, number;
	uint32_t *of = scc->numbers.of;

	scc->num_components = num_searched + num_closed;
	scc->num_searched = num_searched;
	shift = FIRST_CLOSED - CLOSED - scc->num_components + 1;
	scc->numbers.other &= ~CLOSED;
	for (i = 0; i < search->num_of; i++) {
		number = of[i] & ~CLOSED;
		of[i] = number < num_searched ? number : number - shift;
	}
}

/* No edge joins two trees. */
static void
number_trees(struct mu_scc *scc, uint32_t num_trees)
{
	uint32_t tree;

	for (tree = 0; tree < num_trees; tree++)
		scc->numbers.of[tree] = tree;
	scc->num_components = scc->num_searched = num_trees;
}

static bool
make_room(struct search *search, struct mu_arena *arena)
{
	struct mu_scc *scc = search->scc;
	uint32_t room = 1 + search->peel.left, num_trees, ways;

	num_trees = search->trees->num_trees;
	ways = search->peel.ways != NULL ? num_trees / sizeof(uint32_t) : 0;
	search->room = search->open = room;
	scc->spare[1].room = (void *)search->peel.ways;
	scc->spare[1].count = ways;
	if (search->peel.ways != NULL && 2 * (uint64_t)room <= ways) {
		search->stack = scc->spare[1].room;
		search->edges = search->stack + room;
		return true;
	}
	search->stack =
	    mu_arena_alloc_table(arena, room, sizeof(*search->stack));
	search->edges =
	    mu_arena_alloc_table(arena, room, sizeof(*search->edges));
	scc->spare[0].room = search->stack;
	scc->spare[0].count = room;
	if (room > ways) {
		scc->spare[1].room = search->edges;
		scc->spare[1].count = room;
	}
	return search->stack != NULL && search->edges != NULL;
}

enum mu_status
mu_scc_find(struct mu_scc *scc, const struct mu_trees *trees,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	struct search search = { .trees = trees,
		.deadline = deadline,
		.scc = scc,
		.numbers = &scc->numbers,
		.peel = { .left = trees->num_trees, .lists = &scc->lists } };
	bool joined = trees->of == NULL || trees->leaders != NULL;
	enum mu_status status = MU_OK;

	*scc = (struct mu_scc) { .giant_lowest = MU_NO_NODE };
	if (joined && trees->lost->cells != NULL)
		status = close_others(&search, arena);
	if (status != MU_OK)
		return status;
	if (scc->numbers.of == NULL &&
	    !alloc_of(&search, search.peel.left, arena))
		return MU_ERR_NO_MEMORY;
	if (!joined) {
		number_trees(scc, trees->num_trees);
		return MU_OK;
	}
	if (!make_room(&search, arena))
		return MU_ERR_NO_MEMORY;
	if (!search_all(&search))
		return MU_ERR_TIMEOUT;
	number_closed(&search);
	return MU_OK;
}
