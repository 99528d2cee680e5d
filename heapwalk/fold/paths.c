/*
 * The components with a mu_components.next form a forest, in which next is the
 * parent: a component reaches what lies on its path to the root. Two paths
 * share what begins at their lowest common ancestor. To find that in
 * logarithmic time, each node has a jump pointer to an ancestor (Myers, "An
 * applicative random-access stack", 1983), whose distance depends on the depth
 * only.
 *
 * A root is complete, or the hub. What is below two complete roots is disjoint,
 * since it is private; what is below the hub may be shared.
 */
#include "heapwalk/fold/paths.h"

#define MAX_TIPS 4

struct paths {
	struct mu_components *components;
	uint32_t *depth, *jump; /* for each component that is known */
};

/*
 * The components that a component leads to, without private ones and those
 * below another tip.
 */
struct tips {
	uint32_t number[MAX_TIPS];
	size_t count;
};

static bool
is_root(const struct mu_components *components, uint32_t number)
{
	return components->all[number].complete || number == components->hub;
}

static uint32_t
find_ancestor(const struct paths *paths, uint32_t number, uint32_t depth)
{
	while (paths->depth[number] > depth)
		number = paths->depth[paths->jump[number]] >= depth
		    ? paths->jump[number]
		    : mu_components_next(paths->components, number);
	return number;
}

/*
 * The lowest common ancestor; MU_NO_COMPONENT if A and B are in different
 * trees.
 */
static uint32_t
find_common(const struct paths *paths, uint32_t a, uint32_t b)
{
	bool jump;

	a = find_ancestor(paths, a, paths->depth[b]);
	b = find_ancestor(paths, b, paths->depth[a]);
	while (a != b && paths->depth[a] > 0) {
		jump = paths->jump[a] != paths->jump[b];
		a = jump ? paths->jump[a]
			 : mu_components_next(paths->components, a);
		b = jump ? paths->jump[b]
			 : mu_components_next(paths->components, b);
	}
	return a == b ? a : MU_NO_COMPONENT;
}

/* True if it is in the tree whose root is the hub. */
static bool
above_hub(const struct paths *paths, uint32_t number)
{
	return find_ancestor(paths, number, 0) == paths->components->hub;
}

/* True if FROM leads to TO. */
static bool
leads_to(const struct paths *paths, uint32_t from, uint32_t to)
{
	if (from == to)
		return true;
	mu_deadline_passed(paths->components->deadline, 16);
	if (find_common(paths, from, to) == to)
		return true;
	return paths->components->all[to].below_hub && above_hub(paths, from);
}

/*
 * Add NUMBER as a tip unless another tip leads to it. Returns false if there
 * are too many.
 */
static bool
add_tip(const struct paths *paths, struct tips *tips, uint32_t number)
{
	size_t i;

	for (i = 0; i < tips->count; i++)
		if (leads_to(paths, tips->number[i], number))
			return true;
	for (i = tips->count; i-- > 0;)
		if (leads_to(paths, number, tips->number[i]))
			tips->number[i] = tips->number[--tips->count];
	if (tips->count == MAX_TIPS)
		return false;
	tips->number[tips->count++] = number;
	return true;
}

/* Returns false if what NUMBER leads to is not known, or the time is over. */
static bool
find_tips(const struct paths *paths, struct tips *tips, uint32_t number)
{
	const struct mu_components *components = paths->components;
	const struct mu_trees *trees = &components->trees;
	uint32_t first = mu_tree_of(trees, components->all[number].lowest);
	uint32_t tree = first, target, to;
	struct mu_tree_edges edges;

	tips->count = 0;
	do {
		mu_tree_edges_open(&edges, trees, tree, components->deadline);
		while (mu_tree_edges_next(&edges, &target)) {
			to = components->of[target];
			if (to == number ||
			    mu_component_private(&components->all[to]))
				continue;
			if (!is_root(components, to) &&
			    mu_components_next(components, to) ==
				MU_NO_COMPONENT)
				return false;
			if (!add_tip(paths, tips, to))
				return false;
		}
		tree = mu_components_after(components, tree);
	} while (tree != first && !components->deadline->passed);
	return !components->deadline->passed && tips->count > 0;
}

/* Where the path of a tip meets those of earlier tips, if it does. */
static uint32_t
find_meeting(const struct paths *paths, const struct tips *tips, size_t tip)
{
	uint32_t meeting = MU_NO_COMPONENT, common;
	size_t i;

	for (i = 0; i < tip; i++) {
		common = find_common(paths, tips->number[i], tips->number[tip]);
		if (common != MU_NO_COMPONENT &&
		    (meeting == MU_NO_COMPONENT ||
			paths->depth[common] > paths->depth[meeting]))
			meeting = common;
	}
	return meeting;
}

/* Add to RETAINED what TIPS reach; false if that is not known. */
static bool
add_tips(const struct paths *paths, const struct tips *tips,
    struct mu_retained *retained)
{
	const struct mu_components *components = paths->components;
	size_t i, count, bytes;
	uint32_t meeting;

	for (i = 1; i < tips->count; i++)
		if (above_hub(paths, tips->number[i]) !=
		    above_hub(paths, tips->number[0]))
			return false;
	for (i = 0; i < tips->count; i++) {
		mu_components_reach(
		    components, tips->number[i], &count, &bytes);
		retained->count += (uint32_t)count;
		retained->bytes += bytes;
		meeting = find_meeting(paths, tips, i);
		if (meeting == MU_NO_COMPONENT)
			continue;
		mu_components_reach(components, meeting, &count, &bytes);
		retained->count -= (uint32_t)count;
		retained->bytes -= bytes;
	}
	return true;
}

static void
add_root(const struct paths *paths, uint32_t number)
{
	paths->depth[number] = 0;
	paths->jump[number] = number;
}

/* NUMBER reaches itself and what NEXT reaches. */
static void
add_node(const struct paths *paths, uint32_t number, uint32_t next)
{
	struct mu_components *components = paths->components;
	const uint32_t *depth = paths->depth;
	uint32_t jump = paths->jump[next], far = paths->jump[jump];
	size_t count, bytes;

	mu_components_reach(components, next, &count, &bytes);
	components->all[number].count += (uint32_t)count;
	components->all[number].bytes += bytes;
	components->next[number] = 1 + next;
	paths->depth[number] = 1 + depth[next];
	paths->jump[number] =
	    depth[next] - depth[jump] == depth[jump] - depth[far] ? far : next;
}

static void
add_owner(const struct paths *paths, uint32_t number, const struct tips *tips)
{
	struct mu_components *components = paths->components;
	const struct mu_component *one = &components->all[number];
	struct mu_retained *retained =
	    &components->retained[components->num_retained++];

	*retained =
	    (struct mu_retained) { one->bytes, one->count, false, number };
	retained->known = tips->count > 1 && add_tips(paths, tips, retained);
}

void
mu_paths_find(struct mu_components *components)
{
	const struct paths paths = { components, components->pending,
		components->deferred };
	struct tips tips;
	uint32_t i;

	for (i = 0;
	     i < components->num_components && !components->deadline->passed;
	     i++) {
		if (is_root(components, i)) {
			add_root(&paths, i);
			continue;
		}
		if (!find_tips(&paths, &tips, i))
			tips.count = 0;
		if (tips.count == 1)
			add_node(&paths, i, tips.number[0]);
		else if (components->all[i].parent == MU_NO_PARENT)
			add_owner(&paths, i, &tips);
	}
}
