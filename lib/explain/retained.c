/*
 * The largest holders: the children of the top in the dominator tree. Without
 * one of them, all that it retains would be lost.
 */
#include "heapwalk/explain/dominators.h"
#include "lib/explain/explaining.h"
#include "lib/explain/holders.h"
#include "mu/sort.h"

#define TOP 1u
#define DEPTH 12 /* of the block in which most comes together */
#define MOST_IN_ONE(part, whole) ((part) / 4 >= (whole) / 5) /* 80 % */

/* One of the largest holders. */
struct large {
	uint32_t number; /* in the tree */
	uint32_t point;  /* below it: where most of it comes together */
	uint32_t node, point_node; /* of the graph; or MU_NO_NODE: a holder */
	size_t bytes, blocks, point_bytes, point_blocks;
	struct mu_step holder;

	/* while the tree is searched */
	uint32_t child, first;
	bool ended;
};

struct finding {
	struct mu_explaining *explaining;
	struct mu_holder_list list;
	struct mu_dominators tree;
	struct large *large; /* by bytes */
	size_t count, wanted, holders;
	uint64_t *interesting; /* a bit for each number */
};

static int
compare_bytes(const void *a, const void *b)
{
	const struct large *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int
compare_points(const void *a, const void *b)
{
	const struct large *x = a, *y = b;

	return x->point < y->point ? -1 : x->point > y->point;
}

/* Twice as many as wanted are kept, and cut when they are full. */
static void
cut(struct finding *finding)
{
	if (finding->count > 0)
		mu_sort(finding->large, finding->count, sizeof(*finding->large),
		    compare_bytes);
	if (finding->count > finding->wanted)
		finding->count = finding->wanted;
}

static void
find_largest(struct finding *finding)
{
	const struct mu_dominators *tree = &finding->tree;
	size_t least = 0;
	uint32_t number;

	for (number = TOP + 1; number <= tree->count; number++) {
		if (tree->parents[number] != TOP || tree->blocks[number] == 0)
			continue;
		finding->holders++;
		if (tree->retained[number] <= least)
			continue;
		finding->large[finding->count++] = (struct large) {
			.number = number,
			.point = number,
			.bytes = tree->retained[number],
			.blocks = tree->blocks[number],
			.node = MU_NO_NODE,
			.point_node = MU_NO_NODE,
		};
		if (finding->count < 2 * finding->wanted)
			continue;
		cut(finding);
		least = finding->large[finding->count - 1].bytes;
	}
	cut(finding);
}

static bool
is_interesting(const struct finding *finding, uint32_t number)
{
	return (finding->interesting[number / 64] >> number % 64 & 1) != 0;
}

static void
set_interesting(
    const struct finding *finding, uint32_t number, bool interesting)
{
	uint64_t bit = 1ull << number % 64;

	if (interesting)
		finding->interesting[number / 64] |= bit;
	else
		finding->interesting[number / 64] &= ~bit;
}

/* LARGE is sorted by points. */
static struct large *
with_point(const struct finding *finding, uint32_t number)
{
	size_t low = 0, high = finding->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (finding->large[middle].point < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < finding->count && finding->large[low].point == number
	    ? &finding->large[low]
	    : NULL;
}

/* The largest child of each point. */
static void
find_children(struct finding *finding)
{
	const struct mu_dominators *tree = &finding->tree;
	struct large *large;
	uint32_t number;

	for (number = TOP + 1; number <= tree->count; number++) {
		if (!is_interesting(finding, tree->parents[number]))
			continue;
		large = with_point(finding, tree->parents[number]);
		if (large != NULL &&
		    (large->child == 0 ||
			tree->retained[number] > tree->retained[large->child]))
			large->child = number;
	}
}

/*
 * Most of what LARGE holds comes together in a child. CPython's interpreter
 * holds the modules, too: there an eighth does, and most of that below.
 */
static bool
comes_together(const struct finding *finding, const struct large *large)
{
	const size_t *retained = finding->tree.retained;

	if (large->child == 0)
		return false;
	if (!finding->explaining->python)
		return MOST_IN_ONE(retained[large->child], large->bytes);
	return large->first == 0
	    ? retained[large->child] >= large->bytes / 8
	    : MOST_IN_ONE(retained[large->child], retained[large->first]);
}

/* One level. Returns false if nothing has changed. */
static bool
descend(struct finding *finding)
{
	struct large *large, *end = finding->large + finding->count;
	bool changed = false;

	mu_sort(finding->large, finding->count, sizeof(*finding->large),
	    compare_points);
	for (large = finding->large; large < end; large++) {
		large->child = 0;
		set_interesting(finding, large->point, !large->ended);
	}
	find_children(finding);
	for (large = finding->large; large < end; large++) {
		set_interesting(finding, large->point, false);
		large->ended |= !comes_together(finding, large);
		if (large->ended)
			continue;
		large->point = large->child;
		if (large->first == 0)
			large->first = large->child;
		changed = true;
	}
	return changed;
}

/* The first block of a list holds all others: report that one. */
static void
find_points(struct finding *finding)
{
	struct large *large, *end = finding->large + finding->count;
	size_t depth;

	for (depth = 0; depth < DEPTH && descend(finding); depth++)
		continue;
	for (large = finding->large; large < end; large++)
		if (!large->ended && large->first != 0)
			large->point = large->first;
	cut(finding);
}

/*
 * The blocks of the numbers. A number is that of a holder if no node has it.
 */
static void
find_nodes(struct finding *finding)
{
	const struct mu_dominators *tree = &finding->tree;
	struct large *large, *end = finding->large + finding->count;
	uint32_t node, number;

	for (large = finding->large; large < end; large++) {
		large->point_bytes = tree->retained[large->point];
		large->point_blocks = tree->blocks[large->point];
		set_interesting(finding, large->number, true);
		set_interesting(finding, large->point, true);
	}
	for (node = 0; node < tree->num_nodes; node++) {
		number = mu_dominators_number(tree, node);
		if (number == 0 || !is_interesting(finding, number))
			continue;
		for (large = finding->large; large < end; large++) {
			if (large->number == number)
				large->node = node;
			if (large->point == number)
				large->point_node = node;
		}
	}
}

static void
find_holders(struct finding *finding)
{
	const struct mu_dominators *tree = &finding->tree;
	struct large *large, *end = finding->large + finding->count;
	uint32_t i;

	for (i = 0; i < tree->num_holders; i++) {
		if (!is_interesting(finding, tree->numbers[i]))
			continue;
		for (large = finding->large; large < end; large++)
			if (large->number == tree->numbers[i])
				large->holder = finding->list.holders[i];
	}
	for (large = finding->large; large < end; large++)
		if (large->node != MU_NO_NODE)
			mu_place_of_block(&finding->explaining->places,
			    mu_route_block(
				finding->explaining->graph, large->node),
			    &large->holder);
}

static enum mu_status
find_tree(struct finding *finding)
{
	struct mu_explaining *explaining = finding->explaining;
	struct mu_arena *tables = explaining->tables;
	enum mu_status status;

	status = mu_dominators_find(&finding->tree, explaining->graph,
	    &finding->list.targets, &explaining->deadline);
	if (status != MU_OK)
		return status;
	finding->interesting = mu_arena_alloc(
	    tables, finding->tree.count / 64 + 1, sizeof(uint64_t));
	if (finding->interesting == NULL)
		return MU_ERR_NO_MEMORY;
	find_largest(finding);
	find_points(finding);
	find_nodes(finding);
	find_holders(finding);
	return MU_OK;
}

static bool
is_certain(enum mu_step_kind kind)
{
	return kind == MU_STEP_VARIABLE || kind == MU_STEP_TLS ||
	    kind == MU_STEP_REGION || kind == MU_STEP_VALUE;
}

/* Routes take memory that the tree had. */
static enum mu_status
find_paths(struct finding *finding)
{
	struct mu_explaining *explaining = finding->explaining;
	struct mu_explained *out = explaining->out;
	struct mu_routes routes;
	struct mu_path path;
	struct large *large;
	uint32_t node;
	size_t i;
	enum mu_status status = mu_routes_find(&routes, explaining->graph,
	    &explaining->held, explaining->tables, &explaining->deadline);

	for (i = 0; status == MU_OK && i < finding->count; i++) {
		large = &finding->large[i];
		node = large->point_node;
		out->retained[i] = (struct mu_retained) {
			.holder = large->holder,
			.bytes = large->bytes,
			.blocks = large->blocks,
			.point_bytes = large->point_bytes,
			.point_blocks = large->point_blocks,
			.about = !is_certain(large->holder.kind),
		};
		if (node == MU_NO_NODE)
			continue;
		if (!mu_path_find(explaining, &routes,
			mu_route_block(explaining->graph, node), &path))
			return MU_ERR_NO_MEMORY;
		out->retained[i].path = path.steps;
		out->retained[i].num_steps = path.count;
		out->retained[i].about = path.doubtful;
	}
	return status;
}

enum mu_status
mu_retained_explain(struct mu_explaining *explaining)
{
	struct mu_explained *out = explaining->out;
	struct finding finding = { .explaining = explaining,
		.wanted = out->wanted.retained };
	struct mu_arena_piece *pieces;
	enum mu_status status;

	finding.large = mu_arena_alloc(
	    explaining->tables, 2 * finding.wanted + 1, sizeof(*finding.large));
	out->retained = mu_arena_alloc(
	    &out->arena, finding.wanted + 1, sizeof(*out->retained));
	if (finding.large == NULL || out->retained == NULL ||
	    !mu_places_ask(&explaining->places, explaining->held.words,
		explaining->held.count) ||
	    !mu_holders_group(
		&finding.list, &explaining->places, &explaining->held))
		return MU_ERR_NO_MEMORY;
	pieces = explaining->tables->pieces;
	status = find_tree(&finding);
	mu_arena_rewind(explaining->tables, pieces);
	if (status == MU_OK)
		status = find_paths(&finding);
	out->num_retained = status == MU_OK ? finding.count : 0;
	out->holders = finding.holders;
	return status;
}
