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

#include "heapwalk/fold/ahead.h"
#include "heapwalk/fold/bounds.h"
#include "heapwalk/fold/targets.h"

#define MAX_TIPS 4

struct paths {
	struct mu_components *components;
	struct mu_path *of;
	struct mu_jump *jumps;
	uint32_t end; /* of the next list of what was peeled */
};

/*
 * The components that a component leads to, without private ones and those
 * below another tip.
 */
struct tips {
	uint32_t number[MAX_TIPS];
	size_t count;
	bool unknown; /* what one of them reaches, or they are too many */
	struct mu_bound bound;
};

static bool
is_root(const struct mu_components *components, uint32_t number)
{
	return components->all[number].complete || number == components->hub;
}

static void
set_jump(const struct paths *paths, uint32_t number)
{
	uint32_t next = paths->of[number].next;
	const struct mu_jump *after = &paths->jumps[next - 1];
	const struct mu_jump *jump = &paths->jumps[after->to - 1];
	const struct mu_jump *far = &paths->jumps[jump->to - 1];

	paths->jumps[number].depth = 1 + after->depth;
	paths->jumps[number].to =
	    after->depth - jump->depth == jump->depth - far->depth ? jump->to
								   : next;
}

/* Set the jump pointers of NUMBER and of its ancestors. */
static void
set_jumps(const struct paths *paths, uint32_t number)
{
	const struct mu_components *components = paths->components;
	uint32_t *pending = components->pending, count = 0;

	while (paths->jumps[number].to == 0) {
		if (is_root(components, number)) {
			paths->jumps[number].to = 1 + number;
			break;
		}
		pending[count++] = number;
		number = paths->of[number].next - 1;
	}
	while (count > 0)
		set_jump(paths, pending[--count]);
}

static uint32_t
find_ancestor(const struct paths *paths, uint32_t number, uint32_t depth)
{
	set_jumps(paths, number);
	while (paths->jumps[number].depth > depth)
		number =
		    paths->jumps[paths->jumps[number].to - 1].depth >= depth
		    ? paths->jumps[number].to - 1
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

	set_jumps(paths, b);
	a = find_ancestor(paths, a, paths->jumps[b].depth);
	b = find_ancestor(paths, b, paths->jumps[a].depth);
	while (a != b && paths->jumps[a].depth > 0) {
		jump = paths->jumps[a].to != paths->jumps[b].to;
		a = jump ? paths->jumps[a].to - 1
			 : mu_components_next(paths->components, a);
		b = jump ? paths->jumps[b].to - 1
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

/* Look at TO, which a component leads to, and list it. */
static inline void
look_at(struct paths *paths, struct tips *tips, uint32_t to)
{
	const struct mu_components *components = paths->components;
	struct mu_lists *lists = &paths->components->lists;

	if (lists->first != NULL)
		lists->targets[--lists->end] = to;
	mu_bound_add(&tips->bound, &paths->of[to].bound);
	tips->unknown = tips->unknown ||
	    (!is_root(components, to) && paths->of[to].next == 0) ||
	    !add_tip(paths, tips, to);
}

/* Look at what NUMBER leads to. */
static void
find_tips(struct paths *paths, struct tips *tips, uint32_t number)
{
	const struct mu_components *components = paths->components;
	const struct mu_lists *lists = &components->lists;
	uint32_t list = components->num_components - 1 - number, to, at;
	struct mu_targets targets;

	*tips = (struct tips) { .bound = mu_bound_alone(components, number) };
	if (mu_lists_peeled(lists, list)) {
		mu_deadline_passed(
		    components->deadline, 8 + paths->end - lists->first[list]);
		for (at = paths->end; at > lists->first[list];) {
			to = lists->targets[--at];
			if (!mu_component_private(&components->all[to]))
				look_at(paths, tips, to);
		}
	} else {
		mu_targets_find(&targets, components, number);
		while (mu_targets_find_next(&targets, &to))
			look_at(paths, tips, to);
	}
	if (tips->unknown || components->deadline->passed)
		tips->count = 0;
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
			paths->jumps[common].depth >
			    paths->jumps[meeting].depth))
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

/* NUMBER reaches itself and what NEXT reaches. */
static void
add_node(const struct paths *paths, uint32_t number, uint32_t next)
{
	struct mu_components *components = paths->components;
	struct mu_path *path = &paths->of[number];
	size_t count, bytes;

	mu_components_reach(components, next, &count, &bytes);
	components->all[number].count += (uint32_t)count;
	components->all[number].bytes += bytes;
	path->next = 1 + next;
	path->bound = mu_bound_known(components, number);
}

static void
add_owner(const struct paths *paths, uint32_t number, const struct tips *tips)
{
	struct mu_components *components = paths->components;
	const struct mu_component *one = &components->all[number];
	uint32_t slot = components->num_retained++;
	struct mu_retained *retained = &components->retained[slot];

	*retained =
	    (struct mu_retained) { one->bytes, one->count, false, number };
	paths->of[number].next = MU_PATH_SLOT | slot;
	retained->known = tips->count > 1 && add_tips(paths, tips, retained);
}

/* What comes before NUMBER is done. */
static void
find_path(struct paths *paths, uint32_t number)
{
	struct mu_components *components = paths->components;
	const struct mu_component *one = &components->all[number];
	struct mu_path *path = &paths->of[number];
	struct tips tips;

	if (one->complete && one->parent != MU_MANY_PARENT)
		return;
	if (is_root(components, number)) {
		path->bound = mu_bound_known(components, number);
		return;
	}
	find_tips(paths, &tips, number);
	if (one->below_hub)
		tips.bound.outside = 0;
	path->bound = tips.bound;
	if (tips.count == 1)
		add_node(paths, number, tips.number[0]);
	else if (one->parent == MU_NO_PARENT)
		add_owner(paths, number, &tips);
}

/* Find the path of NUMBER, and complete its list. */
static void
find_next(struct paths *paths, uint32_t number)
{
	struct mu_components *components = paths->components;
	struct mu_lists *lists = &components->lists;
	uint32_t list = components->num_components - 1 - number, first;

	if (lists->first == NULL) {
		find_path(paths, number);
		return;
	}
	first = lists->first[list];
	find_path(paths, number);
	lists->first[list] = lists->end;
	if (mu_lists_peeled(lists, list))
		paths->end = first;
}

void
mu_paths_find(struct mu_components *components)
{
	struct mu_lists *lists = &components->lists;
	struct paths paths = { components, components->paths, components->jumps,
		lists->end };
	uint32_t count = components->num_components, i;

	lists->end = lists->num_targets;
	if (lists->first != NULL)
		lists->first[count] = lists->end;
	for (i = 0; i < count && !components->deadline->passed; i++) {
		mu_ahead_visit(components, i);
		find_next(&paths, i);
	}
	components->listed = lists->first != NULL && i == count;
}
