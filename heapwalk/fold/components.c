/*
 * Strongly connected components of the unreachable blocks.
 *
 * Tarjan's algorithm as simplified by Pearce ("A space-efficient algorithm for
 * finding strongly connected components", 2016), with an explicit stack: one
 * number per tree, and one array for both the path (from its start) and the
 * trees whose component is still open (from its end), since a tree is never in
 * both.
 */
#include "heapwalk/fold/components.h"

#include <string.h>

#include "heapwalk/fold/ahead.h"
#include "heapwalk/fold/component_sums.h"
#include "heapwalk/fold/cycles.h"
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
	uint32_t *of; /* order or component of each tree */
	/*
	 * The path from the front, as the place at which each tree continues;
	 * open trees from the back.
	 */
	uint32_t *stack;
	uint32_t *edges; /* of the path: the next edge of each node */
	uint32_t room;   /* of both: trees that are searched, plus 1 */
	uint32_t depth, open, num_seen, num_components;
	struct mu_peel peel;
	const uint64_t *giant; /* bits of its trees; or NULL */
	const uint64_t *below; /* and of those that it leads to */
	uint32_t giant_lowest; /* lowest of these, if it is an owner; or
				  MU_NO_NODE */
	uint32_t giant_number; /* of its component */
	bool ends;             /* it leads to nothing else */
};

/* Enter TREE, which has edges; the first belong to the node at PLACE. */
static void
enter(struct search *search, uint32_t tree, uint32_t place)
{
	search->of[tree] = ++search->num_seen;
	search->stack[search->depth] = place;
	search->edges[search->depth] = mu_edges_first(
	    search->trees->lost, mu_tree_leader(search->trees, place));
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
		component = &search->of[search->stack[search->open]];
		if (*component < order)
			break;
		*component = closed;
	}
	search->of[tree] = closed;
}

/* All edges of the path's last tree were followed. */
static void
leave(struct search *search)
{
	uint32_t tree = tree_at(search, --search->depth);
	uint32_t order = search->of[tree], *parent;

	if ((search->edges[search->depth] & HAS_OLDER) == 0) {
		close_component(search, tree, order);
		return;
	}
	search->stack[--search->open] = tree;
	if (search->depth == 0)
		return;
	parent = &search->of[tree_at(search, search->depth - 1)];
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
	uint32_t *last = &search->stack[search->depth - 1], target, place;
	uint32_t *at = &search->edges[search->depth - 1], *component;
	uint32_t *own = &search->of[tree_at(search, search->depth - 1)];
	uint32_t older = *at & HAS_OLDER;
	struct mu_tree_edges edges = { .trees = trees, .place = *last };

	mu_edges_open(&edges.edges, trees->lost, mu_tree_leader(trees, *last),
	    *at & ~HAS_OLDER, search->deadline);
	while (mu_tree_edges_next(&edges, &target)) {
		component = &search->of[target];
		if (*component == 0) {
			place = mu_tree_first(trees, target);
			if (place == MU_NO_NODE) {
				*component = CLOSED | search->num_components++;
				continue;
			}
			*last = edges.place;
			*at = edges.edges.at | older;
			enter(search, target, place);
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
	uint32_t place;

	if (search->of[tree] != 0)
		return true;
	place = mu_tree_first(search->trees, tree);
	if (place == MU_NO_NODE) {
		search->of[tree] = CLOSED | search->num_components++;
		return true;
	}
	for (enter(search, tree, place); search->depth > 0;) {
		follow(search);
		if (search->deadline->passed)
			return false;
	}
	return true;
}

static bool
search_all(struct search *search)
{
	const struct mu_trees *trees = search->trees;
	uint32_t tree;

	for (tree = 0; tree < trees->num_trees; tree++)
		if (!search_from(search, tree))
			return false;
	return !search->deadline->passed;
}

/*
 * Number all components: those that were closed from the highest number down
 * follow those that were searched in depth.
 */
static void
number_closed(struct mu_components *components, struct search *search)
{
	uint32_t num_closed =
	    search->peel.next != 0 ? FIRST_CLOSED - search->peel.next : 0;
	uint32_t tree, num_searched = search->num_components, shift, number;

	components->num_components = num_searched + num_closed;
	shift = FIRST_CLOSED - CLOSED - components->num_components + 1;
	for (tree = 0; tree < components->trees.num_trees; tree++) {
		number = components->of[tree] & ~CLOSED;
		components->of[tree] =
		    number < num_searched ? number : number - shift;
	}
	if (search->giant_number != 0)
		search->giant_number = (search->giant_number & ~CLOSED) - shift;
}

/* Set the fields of each component that do not depend on others. */
static void
gather(struct mu_components *components)
{
	const struct mu_trees *trees = &components->trees;
	uint32_t tree, i;

	for (i = 0; i < components->num_components; i++) {
		components->all[i].parent = MU_NO_PARENT;
		components->all[i].complete = 1;
	}
	for (tree = trees->num_trees; tree-- > 0;) {
		if (tree >= MU_AHEAD)
			__builtin_prefetch(
			    &components->all[components->of[tree - MU_AHEAD]],
			    1);
		components->all[components->of[tree]].lowest =
		    mu_tree_head(trees, tree);
	}
}

static void
note_parent(struct mu_components *components, uint32_t parent, uint32_t child)
{
	struct mu_component *all = components->all;

	if (all[child].visitor != UINT32_MAX)
		all[child].visitor++;
	if (all[child].parent == MU_NO_PARENT) {
		all[child].parent = parent;
	} else if (all[child].parent != parent) {
		if (all[child].parent != MU_MANY_PARENT)
			all[all[child].parent].complete = 0;
		all[child].parent = MU_MANY_PARENT;
		all[parent].complete = 0;
	}
}

MU_AHEAD_INLINE void
call_targets(const struct mu_components *components,
    const struct search *search, uint32_t tree, bool described)
{
	bool inside = search->giant != NULL && mu_bit(search->giant, tree);

	if (!inside || !search->ends)
		mu_ahead_edges(
		    components, tree, inside ? search->giant : NULL, described);
}

/* Find the components that lead to each component. */
static void
find_parents(struct mu_components *components, const struct search *search)
{
	const struct mu_trees *trees = &components->trees;
	struct mu_tree_edges edges;
	uint32_t tree, target, from, to;
	bool inside;

	for (tree = 0; tree < trees->num_trees; tree++) {
		if (trees->num_trees - tree > 2 * MU_AHEAD) {
			call_targets(
			    components, search, tree + 2 * MU_AHEAD, false);
			call_targets(components, search, tree + MU_AHEAD, true);
		}
		inside = search->giant != NULL && mu_bit(search->giant, tree);
		if ((inside && search->ends) ||
		    mu_tree_first(trees, tree) == MU_NO_NODE)
			continue;
		from = components->of[tree];
		mu_tree_edges_open(&edges, trees, tree, components->deadline);
		while (mu_tree_edges_next(&edges, &target)) {
			if (inside && mu_bit(search->giant, target))
				continue;
			to = components->of[target];
			if (from != to)
				note_parent(components, from, to);
		}
		if (components->deadline->passed)
			return;
	}
}

/*
 * What leads to a component that is not complete is not complete. Others that
 * are private are added to the one that leads to them; children have lower
 * numbers, so they are added up before their parents.
 */
static void
add_up_private(struct mu_components *components)
{
	const struct mu_component *all = components->all, *child;
	uint32_t count = components->num_components, i;
	struct mu_component *parent;

	for (i = 0; i < count; i++) {
		if (count - i > MU_AHEAD &&
		    all[i + MU_AHEAD].parent < MU_MANY_PARENT)
			__builtin_prefetch(&all[all[i + MU_AHEAD].parent], 1);
		child = &all[i];
		if (child->parent >= MU_MANY_PARENT)
			continue;
		parent = &components->all[child->parent];
		if (!child->complete) {
			parent->complete = 0;
			continue;
		}
		parent->count += child->count;
		parent->bytes += child->bytes;
	}
}

/* What the giant component leads to is known: that is the hub. */
static void
sum_giant(struct mu_components *components, const struct search *search)
{
	struct mu_retained *sum = &components->hub_sum;
	struct mu_component *one;
	uint32_t i;

	if (search->giant == NULL || search->ends ||
	    components->all[search->giant_number].complete)
		return;
	components->hub = search->giant_number;
	*sum = (struct mu_retained) { .known = true,
		.component = components->hub };
	for (i = 0; i <= components->hub; i++) {
		one = &components->all[i];
		if (!mu_bit(search->below,
			mu_tree_of(&components->trees, one->lowest)))
			continue;
		one->below_hub = i != components->hub;
		if (mu_component_private(one))
			continue;
		sum->bytes += one->bytes;
		sum->count += one->count;
	}
}

/*
 * Link the trees of each component in a ring. Readers walk it where the sums of
 * a component are not complete; if all are, the ring is not made.
 */
static enum mu_status
link_trees(struct mu_components *components, const struct search *search,
    struct mu_arena *arena)
{
	uint32_t num_trees = components->trees.num_trees, tree, i, first, *next;

	for (i = 0; i < components->num_components; i++)
		if (!components->all[i].complete)
			break;
	if (i == components->num_components || i == num_trees)
		return MU_OK;
	next = search->room > num_trees
	    ? search->stack
	    : mu_arena_alloc_table(arena, num_trees, sizeof(*next));
	if (next == NULL)
		return MU_ERR_NO_MEMORY;
	for (tree = 0; tree < num_trees; tree++)
		next[tree] = tree;
	for (tree = 0; tree < num_trees; tree++) {
		mu_ahead_described(components, tree);
		i = components->of[tree];
		first =
		    mu_tree_of(&components->trees, components->all[i].lowest);
		if (tree == first)
			continue;
		next[tree] = next[first];
		next[first] = tree;
	}
	components->next_tree = next;
	return MU_OK;
}

static enum mu_status
peel(struct search *search, struct mu_arena *arena)
{
	struct mu_peel *peel = &search->peel;
	enum mu_status status;

	peel->of = search->of;
	peel->next = FIRST_CLOSED;
	peel->deadline = search->deadline;
	status = mu_peel_open(peel, search->trees, arena);
	if (status == MU_OK)
		mu_peel(peel);
	return status;
}

/* Close the giant component: nothing else is closed, and it leads nowhere. */
static void
close_lowest(struct search *search)
{
	uint32_t tree;

	search->ends = true;
	search->num_components = 1;
	for (tree = 0; tree < search->trees->num_trees; tree++) {
		if (!mu_bit(search->giant, tree))
			continue;
		search->of[tree] = CLOSED;
		search->peel.left--;
	}
}

/*
 * Close what need not be searched in depth. If something leads to nearly each
 * tree, little can be peeled.
 */
static enum mu_status
close_others(struct search *search, struct mu_arena *arena)
{
	uint32_t num_trees = search->trees->num_trees;
	bool few = search->trees->num_sources < num_trees / SOURCES_SHARE;
	enum mu_status status = few ? MU_OK : peel(search, arena);
	struct mu_giant_scc giant;

	if (status != MU_OK || search->peel.left < num_trees / MU_GIANT_SHARE ||
	    !mu_giant_scc_find(&giant, search->trees, arena, search->deadline))
		return status;
	search->giant = giant.members;
	search->below = giant.below;
	search->giant_lowest = giant.lowest;
	search->ends =
	    memcmp(giant.members, giant.below,
		((size_t)num_trees / 64 + 1) * sizeof(*giant.below)) == 0;
	if (few && search->ends) {
		close_lowest(search);
		return MU_OK;
	}
	if (few)
		status = peel(search, arena);
	if (status != MU_OK)
		return status;
	search->giant_number = search->peel.next;
	mu_peel_component(&search->peel, giant.members);
	if (!search->ends)
		mu_peel(&search->peel);
	return MU_OK;
}

/* Room for so many numbers where trees were peeled. */
static uint32_t
peel_room(const struct search *search)
{
	return search->peel.ways != NULL
	    ? search->trees->num_trees / sizeof(uint32_t)
	    : 0;
}

static bool
make_room(struct search *search, struct mu_arena *arena)
{
	uint32_t room = 1 + search->peel.left;

	search->room = search->open = room;
	if (search->peel.ways != NULL &&
	    2 * (uint64_t)room <= peel_room(search)) {
		search->stack = (void *)search->peel.ways;
		search->edges = search->stack + room;
		return true;
	}
	search->stack =
	    mu_arena_alloc_table(arena, room, sizeof(*search->stack));
	search->edges =
	    mu_arena_alloc_table(arena, room, sizeof(*search->edges));
	return search->stack != NULL && search->edges != NULL;
}

static enum mu_status
search(struct mu_components *components, struct search *search,
    struct mu_arena *arena)
{
	const struct mu_trees *trees = &components->trees;
	enum mu_status status;

	search->trees = trees;
	search->deadline = components->deadline;
	search->of = components->of;
	search->peel.left = trees->num_trees;
	if (trees->lost->cells != NULL) {
		status = close_others(search, arena);
		if (status != MU_OK)
			return status;
	}
	if (!make_room(search, arena))
		return MU_ERR_NO_MEMORY;
	if (!search_all(search))
		return MU_ERR_TIMEOUT;
	number_closed(components, search);
	components->pending = search->room > trees->num_trees ? search->edges
	    : components->num_components <= peel_room(search)
	    ? (void *)search->peel.ways
	    : NULL;
	return MU_OK;
}

/*
 * If trees are nodes, the memory of their parents, which are known by now, is
 * reused.
 */
static bool
alloc_components(struct mu_components *components, struct mu_lost *lost,
    struct mu_arena *arena)
{
	size_t count = components->trees.num_trees;

	if (components->trees.of != NULL) {
		components->of =
		    mu_arena_alloc_table(arena, count, sizeof(*components->of));
	} else {
		components->of = lost->parents;
		memset(components->of, 0, count * sizeof(*components->of));
	}
	return components->of != NULL;
}

static enum mu_status
describe(struct mu_components *components, const struct search *search,
    struct mu_arena *arena)
{
	enum mu_status status;

	components->all = mu_arena_alloc_table(
	    arena, components->num_components, sizeof(*components->all));
	if (components->all == NULL)
		return MU_ERR_NO_MEMORY;
	gather(components);
	if (search->giant_lowest != MU_NO_NODE)
		components->all[components->of[search->giant_lowest]].lowest =
		    search->giant_lowest;
	find_parents(components, search);
	status = mu_cycles_choose_first(components, arena);
	if (status != MU_OK)
		return status;
	mu_component_sums(components);
	if (components->deadline->passed)
		return MU_ERR_TIMEOUT;
	add_up_private(components);
	sum_giant(components, search);
	return link_trees(components, search, arena);
}

enum mu_status
mu_components_find(struct mu_components *components, struct mu_lost *lost,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	struct search found = { .giant_lowest = MU_NO_NODE };
	enum mu_status status;

	*components =
	    (struct mu_components) { .hub = MU_NO_HUB, .deadline = deadline };
	status = mu_trees_find(&components->trees, lost, deadline);
	if (status == MU_OK && !alloc_components(components, lost, arena))
		status = MU_ERR_NO_MEMORY;
	if (status == MU_OK)
		status = search(components, &found, arena);
	return status == MU_OK ? describe(components, &found, arena) : status;
}
