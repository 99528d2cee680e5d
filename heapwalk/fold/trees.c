/*
 * From each node with one parent, parents are followed up to a head, or to a
 * node that was visited from another one. A chain in random order waits for
 * main memory at each step, so several are followed at once. A visited node
 * says from which node it was visited, and that one where its walk ended; the
 * numbers of trees finally replace the parents. Before that, what was allocated
 * in the order of its links is done in one pass over the nodes.
 */
#include "heapwalk/fold/trees.h"

#include "heapwalk/fold/forest.h"
#include "heapwalk/fold/ways.h"
#include "mu/bits.h"

/* Values of parents; others are 1 + the only node that leads there. */
#define PARENT_NONE 0u
#define PARENT_MANY 0x7fffffffu

#define CLAIMED 0x80000000u /* with the node from which it was visited */
#define MAX_NODES 0x40000000u
#define LANES 32
#define NEAR 64      /* nodes */
#define FAR_SHARE 64 /* one node in so many may have another parent */

struct lane {
	uint32_t start, at;
};

struct climbing {
	uint32_t *up;              /* parents, or claims */
	uint32_t num_nodes, fresh; /* nodes from FRESH on are not visited yet */
	struct mu_deadline *deadline;
};

static inline bool
is_head(uint32_t up)
{
	return up == PARENT_NONE || up == PARENT_MANY;
}

/*
 * Where the walk through NODE ends so far: at a head, or at a node on its way.
 */
static uint32_t
find_end(uint32_t *up, uint32_t node)
{
	uint32_t next, after;

	while ((up[node] & CLAIMED) != 0) {
		next = up[node] & ~CLAIMED;
		if (next == node)
			break;
		after = up[next];
		if ((after & CLAIMED) != 0)
			up[node] = after;
		node = next;
	}
	return node;
}

/* Start LANE at a node with one parent; false if there is none. */
static inline bool
begin(struct climbing *climbing, struct lane *lane)
{
	const uint32_t *up = climbing->up;
	uint32_t node = climbing->fresh;

	for (; node < climbing->num_nodes; node++)
		if (!is_head(up[node]) && (up[node] & CLAIMED) == 0)
			break;
	climbing->fresh = node + 1;
	lane->start = lane->at = node;
	return node < climbing->num_nodes;
}

/* LANE is at a node that was visited before. */
static void
meet(uint32_t *up, const struct lane *lane)
{
	uint32_t end = find_end(up, lane->at);

	if (end != lane->start) {
		up[lane->start] = CLAIMED | end;
		return;
	}
	/* A ring that nothing leads into is cut here. */
	up[lane->start] = CLAIMED | lane->at;
	up[lane->at] = PARENT_MANY;
}

/* Returns false when LANE ends. */
static inline bool
step(struct climbing *climbing, struct lane *lane)
{
	uint32_t *up = climbing->up, parent = up[lane->at];

	if (is_head(parent)) {
		/* Or a ring was cut where it began. */
		if (lane->at != lane->start)
			up[lane->start] = CLAIMED | lane->at;
		return false;
	}
	if ((parent & CLAIMED) != 0) {
		meet(up, lane);
		return false;
	}
	up[lane->at] = CLAIMED | lane->start;
	lane->at = parent - 1;
	__builtin_prefetch(&up[lane->at], 1);
	return true;
}

/*
 * From the first node to the last, or BACK: a node ends where its parent does,
 * if that is known. The parent is in the cache if it is near that of the node
 * before; few others are looked at. Returns how many nodes got an end.
 */
static uint32_t
climb_in_order(uint32_t *up, uint32_t num_nodes, bool back)
{
	uint32_t far = num_nodes / FAR_SHARE + 1, last = 0, done = 0, i;
	uint32_t node, parent, end;

	for (i = 0; i < num_nodes; i++) {
		node = back ? num_nodes - 1 - i : i;
		if (is_head(up[node]) || (up[node] & CLAIMED) != 0)
			continue;
		parent = up[node] - 1;
		if (parent - last + NEAR >= 2 * NEAR && far-- == 0)
			break;
		last = parent;
		end = up[parent];
		if (!is_head(end) && (end & CLAIMED) == 0)
			continue;
		up[node] = is_head(end) ? CLAIMED | parent : end;
		done++;
	}
	return done;
}

static void
climb(struct climbing *climbing)
{
	struct lane lanes[LANES];
	size_t count = 0, i;

	if (climb_in_order(climbing->up, climbing->num_nodes, false) <
	    climbing->num_nodes / 2)
		climb_in_order(climbing->up, climbing->num_nodes, true);
	while (count < LANES && begin(climbing, &lanes[count]))
		count++;
	while (count > 0 && !mu_deadline_passed(climbing->deadline, 8 * count))
		for (i = 0; i < count; i++)
			if (!step(climbing, &lanes[i]) &&
			    !begin(climbing, &lanes[i]))
				lanes[i--] = lanes[--count];
}

/* Count the trees, according to UP, and those that nothing leads to. */
static void
count_heads(struct mu_trees *trees, const uint32_t *up)
{
	uint32_t node;

	trees->num_trees = trees->num_sources = 0;
	for (node = 0; node < trees->lost->num_nodes; node++) {
		trees->num_trees += is_head(up[node]);
		trees->num_sources += up[node] == PARENT_NONE;
	}
}

/* Number the trees of all heads. Returns true if a node leads to one. */
static bool
number_heads(struct mu_trees *trees)
{
	uint32_t node, tree = 0;
	bool led = false;

	for (node = 0; node < trees->lost->num_nodes; node++) {
		if (!is_head(trees->of[node]))
			continue;
		trees->heads[tree] = node;
		if (trees->of[node] == PARENT_MANY) {
			trees->heads[tree] |= MU_HEAD_LED;
			led = true;
		}
		trees->of[node] = MU_TREE_HEAD | tree++;
	}
	return led;
}

/* Number the trees of all other nodes. */
static void
number_others(struct mu_trees *trees)
{
	uint32_t *of = trees->of, node, end, next, tree;

	for (node = 0; node < trees->lost->num_nodes; node++) {
		for (end = node; (of[end] & CLAIMED) != 0;)
			end = of[end] & ~CLAIMED;
		tree = of[end] & ~MU_TREE_HEAD;
		for (end = node; (of[end] & CLAIMED) != 0; end = next) {
			next = of[end] & ~CLAIMED;
			of[end] = tree;
		}
	}
}

static bool
leads_to_head(
    const struct mu_trees *trees, uint32_t node, struct mu_deadline *deadline)
{
	struct mu_edges edges;
	uint32_t target, tree;

	mu_edges_open(&edges, trees->lost, node,
	    mu_edges_first(trees->lost, node), deadline);
	while (mu_edges_next(&edges, &target))
		if (mu_tree_entered(trees, target, &tree))
			return true;
	return false;
}

/*
 * Count the nodes that lead to heads, in the bits LEADS and for each tree in
 * FIRST. Returns their number.
 */
static uint32_t
count_leaders(
    struct mu_trees *trees, uint64_t *leads, struct mu_deadline *deadline)
{
	uint32_t node, count = 0;

	for (node = 0; node < trees->lost->num_nodes && !deadline->passed;
	     node++) {
		if (mu_edges_none(trees->lost, node) ||
		    !leads_to_head(trees, node, deadline))
			continue;
		mu_bit_set(leads, node);
		trees->first[mu_tree_of(trees, node)]++;
		count++;
	}
	return count;
}

/* FIRST becomes 1 + where the leaders of each tree end; the last is noted. */
static void
divide(struct mu_trees *trees)
{
	uint32_t tree, end = 0;

	for (tree = 0; tree < trees->num_trees; tree++) {
		if (trees->first[tree] == 0)
			continue;
		end += trees->first[tree];
		trees->first[tree] = 1 + end;
		trees->leaders[end - 1] = MU_LEADER_LAST;
	}
}

static enum mu_status
list_leaders(struct mu_trees *trees, struct mu_deadline *deadline)
{
	uint32_t node = trees->lost->num_nodes, count, *first;
	struct mu_arena *arena = trees->lost->graph->arena;
	uint64_t *leads =
	    mu_lost_borrow(trees->lost, (size_t)node / 64 + 1, sizeof(*leads));

	trees->first = mu_arena_alloc_table(
	    arena, trees->num_trees, sizeof(*trees->first));
	if (leads == NULL || trees->first == NULL)
		return MU_ERR_NO_MEMORY;
	count = count_leaders(trees, leads, deadline);
	if (deadline->passed)
		return MU_ERR_TIMEOUT;
	trees->leaders =
	    mu_arena_alloc_table(arena, count, sizeof(*trees->leaders));
	if (trees->leaders == NULL)
		return MU_ERR_NO_MEMORY;
	divide(trees);
	while (node-- > 0) {
		if (!mu_bit(leads, node))
			continue;
		first = &trees->first[mu_tree_of(trees, node)];
		trees->leaders[--*first - 1] |= node;
	}
	return MU_OK;
}

/* The only parent of each node that has one. */
static uint32_t *
find_parents(const struct mu_lost *lost, const struct mu_ways *ways,
    struct mu_deadline *deadline)
{
	uint32_t *parents = mu_arena_alloc_table(
	    lost->graph->arena, lost->num_nodes, sizeof(*parents));
	uint32_t node, target;
	struct mu_edges edges;

	if (parents == NULL)
		return NULL;
	for (node = 0; node < lost->num_nodes; node++)
		if (mu_bit(ways->several, node))
			parents[node] = PARENT_MANY;
	for (node = 0; node < lost->num_nodes && !deadline->passed; node++) {
		if (mu_edges_none(lost, node))
			continue;
		mu_edges_open(
		    &edges, lost, node, mu_edges_first(lost, node), deadline);
		while (mu_edges_next(&edges, &target))
			if (!mu_bit(ways->several, target))
				parents[target] = 1 + node;
	}
	return parents;
}

static enum mu_status
climb_all(struct mu_trees *trees, const struct mu_ways *ways,
    struct mu_deadline *deadline)
{
	const struct mu_lost *lost = trees->lost;
	struct climbing climbing = { .up = find_parents(lost, ways, deadline),
		.num_nodes = lost->num_nodes,
		.deadline = deadline };

	if (climbing.up == NULL)
		return MU_ERR_NO_MEMORY;
	if (!deadline->passed)
		climb(&climbing);
	if (deadline->passed)
		return MU_ERR_TIMEOUT;
	trees->of = climbing.up;
	count_heads(trees, trees->of);
	trees->heads = mu_arena_alloc_table(
	    lost->graph->arena, trees->num_trees, sizeof(*trees->heads));
	if (trees->heads == NULL)
		return MU_ERR_NO_MEMORY;
	if (!number_heads(trees)) {
		number_others(trees);
		return MU_OK;
	}
	number_others(trees);
	return list_leaders(trees, deadline);
}

enum mu_status
mu_trees_find(
    struct mu_trees *trees, struct mu_lost *lost, struct mu_deadline *deadline)
{
	enum mu_status status;
	struct mu_ways ways;

	*trees = (struct mu_trees) { .lost = lost };
	status = mu_ways_count(&ways, lost, deadline);
	if (status != MU_OK)
		return status;
	trees->num_sources = ways.num_sources;
	if (lost->trees_only && mu_forest_can_be(&ways, lost))
		return mu_forest_find(trees, &ways, lost, deadline);
	if (lost->num_nodes <= MAX_NODES &&
	    ways.num_heads <= lost->num_nodes / 2)
		return climb_all(trees, &ways, deadline);
	trees->num_trees = lost->num_nodes;
	return MU_OK;
}
