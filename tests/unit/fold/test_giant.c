/*
 * The search for the giant component gives the same result as the depth-first
 * search alone, where edges are not stored.
 */
#include "heapwalk/fold/components.h"
#include "heapwalk/fold/giant_scc.h"
#include "tests/support/graph/folding.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define NODES 70000
#define EDGES 3

static void **nodes[NODES];
static struct mu_workers four;

static void
make(struct mu_lost *lost, struct mu_graph *made, bool stored)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	ck_assert_int_eq(mu_graph_make(made, &folding_heap.blocks, NULL, NULL,
			     &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	if (!stored) {
		made->cells = NULL;
		made->reads = true;
	}
	ck_assert_int_eq(mu_lost_open(lost, made, &deadline), MU_OK);
}

static void
find(struct mu_components *components, struct mu_lost *lost)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	ck_assert_int_eq(mu_components_find(
			     components, lost, &folding_heap.arena, &deadline),
	    MU_OK);
	components->deadline = &deadline;
	ck_assert_int_eq(
	    mu_components_sum_retained(components, &folding_heap.arena), MU_OK);
	ck_assert_int_eq(
	    mu_components_sum_owners(components, SIZE_MAX, &folding_heap.arena),
	    MU_OK);
}

static bool
has_giant(bool stored)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_giant_scc giant;
	struct mu_lost lost;

	make(&lost, &graph, stored);
	ck_assert_int_eq(mu_trees_find(&trees, &lost, &deadline), MU_OK);
	return mu_giant_scc_find(
	    &giant, &trees, &folding_heap.arena, &deadline);
}

static size_t
count_owners(const struct mu_components *components)
{
	size_t count = components->trees.lost->num_alone;
	uint32_t i;

	for (i = 0; i < components->num_components; i++)
		count += components->all[i].parent == MU_NO_PARENT;
	return count;
}

/* If edges are read no block is alone; all are lost. */
static void
expect_owner(const struct mu_components *without, uint32_t number, size_t count,
    size_t bytes)
{
	uint32_t other = mu_component_of(without, number);
	size_t found_count, found_bytes;

	ck_assert_uint_eq(without->all[other].parent, MU_NO_PARENT);
	ck_assert_uint_eq(without->all[other].lowest, number);
	mu_components_reach(without, other, &found_count, &found_bytes);
	ck_assert_uint_eq(count, found_count);
	ck_assert_uint_eq(bytes, found_bytes);
}

static bool
expect_alone(void *ctx, const struct mu_block *block)
{
	expect_owner(ctx, block->number, 1, mu_range_size(block->range));
	return true;
}

static void
expect_equal(const struct mu_components *with, struct mu_components *without)
{
	const struct mu_lost *lost = with->trees.lost;
	size_t count, bytes;
	uint32_t i;

	ck_assert_uint_eq(count_owners(with), count_owners(without));
	for (i = 0; i < with->num_components; i++) {
		if (with->all[i].parent != MU_NO_PARENT)
			continue;
		mu_components_reach(with, i, &count, &bytes);
		expect_owner(without, mu_lost_place(lost, with->all[i].lowest),
		    count, bytes);
	}
	mu_lost_each_alone(lost, expect_alone, without);
}

/* By one worker, what is stored and what is read; by four. */
static void
expect_same(void)
{
	struct mu_components without, other;
	struct mu_graph graph[3];
	struct mu_lost lost[3];
	size_t way;

	folding_heap.blocks.workers = NULL;
	make(&lost[0], &graph[0], false);
	find(&without, &lost[0]);
	four = pthread_workers(4);
	for (way = 1; way < 3; way++) {
		folding_heap.blocks.workers = way == 1 ? NULL : &four;
		make(&lost[way], &graph[way], true);
		find(&other, &lost[way]);
		expect_equal(&other, &without);
	}
}

/* What is not searched in depth needs no path for that. */
static void
expect_little_memory(void)
{
	struct mu_components components;
	struct mu_graph graph;
	struct mu_lost lost;
	size_t used;

	make(&lost, &graph, true);
	used = folding_heap.arena.used;
	find(&components, &lost);
	ck_assert_uint_le(folding_heap.arena.used - used, (size_t)16 * NODES);
}

static void
make_nodes(void)
{
	size_t i;

	srand(1);
	folding_open_heap(FAKE_SPAN, (size_t)64 * NODES);
	for (i = 0; i < NODES; i++)
		nodes[i] = folding_node(EDGES);
}

/*
 * Edges from anywhere to anywhere; a third of the nodes have only some. In most
 * of these graphs every walk comes to a node that leads nowhere.
 */
TEST_LOOP(random_graph, 1, 9)
{
	size_t i, j, count;

	make_nodes();
	srand((unsigned)_i);
	for (i = 0; i < NODES; i++) {
		count = i % 3 != 0 ? EDGES : (size_t)rand() % EDGES;
		for (j = 0; j < count; j++)
			nodes[i][j] = nodes[(size_t)rand() % NODES];
	}
	fake_heap_seal(&folding_heap);
	ck_assert(has_giant(true));
	ck_assert(!has_giant(false));
	expect_same();
}

/*
 * A random graph, and beside it: nothing; an owner that leads to it, or two;
 * one that leads to what hangs below it and does not lead back. The lowest
 * nodes are of what hangs below.
 */
TEST_LOOP(owners_of_random_graph, 0, 6)
{
	size_t i, j, hang = 1000, above = (size_t)_i % 3, sink = _i >= 3;

	make_nodes();
	for (i = 1; i < hang; i++)
		nodes[i - 1][0] = nodes[i];
	for (i = hang; i < NODES - above - sink; i++)
		for (j = 0; j < EDGES; j++)
			nodes[i][j] = nodes[hang +
			    (size_t)rand() % (NODES - above - sink - hang)];
	for (i = 0; i < hang; i++)
		nodes[hang + i][2] = nodes[(size_t)rand() % hang];
	nodes[hang][2] = nodes[0];
	for (i = 0; i < above; i++)
		nodes[NODES - 1 - i][1] = nodes[NODES / 2 + i];
	if (sink)
		nodes[NODES - 1 - above][2] = nodes[hang / 2];
	fake_heap_seal(&folding_heap);
	ck_assert(has_giant(true));
	expect_same();
	expect_little_memory();
}

/*
 * A random graph to many of whose nodes nothing leads, and rings of two that
 * lead to it, to two of which each owner leads: what is peeled first and what
 * the giant component leads to are not all; its number lies between.
 */
TEST_LOOP(rings_above_random_graph, 1, 4)
{
	size_t i, rings = 3000, first = 2 * rings;

	make_nodes();
	srand((unsigned)_i);
	for (i = 0; i < first; i++) {
		nodes[i][0] = nodes[i ^ 1];
		nodes[i][1] =
		    nodes[first + (size_t)rand() % (NODES - first - 200)];
	}
	for (; i < NODES - 200; i++) {
		nodes[i][0] =
		    nodes[first + (size_t)rand() % (NODES - first - 200)];
		nodes[i][1] =
		    nodes[first + (size_t)rand() % (NODES - first - 200)];
	}
	for (; i < NODES; i++) {
		nodes[i][0] = nodes[(size_t)rand() % first];
		nodes[i][1] = nodes[(size_t)rand() % first];
	}
	fake_heap_seal(&folding_heap);
	ck_assert(has_giant(true));
	expect_same();
}

/* Edges lead to lower nodes only: all is below, nothing comes back. */
TEST(no_way_back)
{
	size_t i, j;

	make_nodes();
	for (i = 1; i < NODES; i++)
		for (j = 0; j < EDGES - 1; j++)
			nodes[i][j] = nodes[i / (2 + (size_t)rand() % 3) + j];
	nodes[1][1] = NULL;
	fake_heap_seal(&folding_heap);
	ck_assert(!has_giant(true));
	expect_same();
}

static void
shuffle(void)
{
	size_t i, j;
	void **other;

	for (i = NODES; i > 1; i--) {
		j = (size_t)rand() % i;
		other = nodes[i - 1];
		nodes[i - 1] = nodes[j];
		nodes[j] = other;
	}
}

/* A thin ring in no order, which takes too many sweeps, and a wide one. */
TEST_LOOP(rings, 0, 2)
{
	size_t i, width = _i ? 100 : 1;

	make_nodes();
	if (_i == 0)
		shuffle();
	for (i = 0; i < NODES; i++) {
		nodes[i][0] = nodes[(i + width) % NODES];
		nodes[i][1] = nodes[(i + width + 1) % NODES];
	}
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(has_giant(true), _i);
	expect_same();
}

/* Chains, rings and what hangs on them, in no order; few nodes are shared. */
TEST_LOOP(hanging, 0, 3)
{
	static const size_t near[] = { 2, 100, NODES };
	size_t i, from;

	make_nodes();
	shuffle();
	for (i = 0; i < NODES; i++) {
		from = (i + (size_t)rand() % near[_i]) % NODES;
		nodes[from][i % EDGES] = nodes[i];
		if (i % 50 == 0)
			nodes[(size_t)rand() % NODES][0] = nodes[i];
	}
	fake_heap_seal(&folding_heap);
	expect_same();
}

/* One chain, and one ring, in no order. */
TEST_LOOP(single, 0, 2)
{
	size_t i;

	make_nodes();
	shuffle();
	for (i = 0; i + 1 < NODES; i++)
		nodes[i][1] = nodes[i + 1];
	if (_i != 0)
		nodes[i][1] = nodes[0];
	fake_heap_seal(&folding_heap);
	expect_same();
}

TEST(late)
{
	struct mu_deadline deadline = { .ns = 0 };
	struct mu_components components;
	struct mu_graph graph;
	struct mu_lost lost;
	size_t i, j;

	make_nodes();
	for (i = 0; i < NODES; i++)
		for (j = 0; j < EDGES; j++)
			nodes[i][j] = nodes[(size_t)rand() % NODES];
	fake_heap_seal(&folding_heap);
	make(&lost, &graph, true);
	ck_assert_int_eq(mu_components_find(&components, &lost,
			     &folding_heap.arena, &deadline),
	    MU_ERR_TIMEOUT);
}

/* Without memory for it nothing is lost. */
TEST(no_memory)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_giant_scc giant;
	struct mu_lost lost;
	size_t i, j, n;

	make_nodes();
	for (i = 0; i < NODES; i++)
		for (j = 0; j < EDGES; j++)
			nodes[i][j] = nodes[(size_t)rand() % NODES];
	fake_heap_seal(&folding_heap);
	make(&lost, &graph, true);
	ck_assert_int_eq(mu_trees_find(&trees, &lost, &deadline), MU_OK);
	for (n = 1; n <= 5; n++) {
		folding_heap.arena.fail_at = n;
		ck_assert_int_eq(mu_giant_scc_find(&giant, &trees,
				     &folding_heap.arena, &deadline),
		    n == 5);
	}
	folding_heap.arena.fail_at = 0;
	expect_same();
}

SUITE(.teardown = folding_teardown);
