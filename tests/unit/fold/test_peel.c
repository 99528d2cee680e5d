/*
 * What is peeled: in an order against the edges, and most of what can be; it is
 * listed with what it leads to.
 */
#include "heapwalk/fold/peel.h"
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define NODES 20000
#define FIRST 0x7fffffffu

static void **nodes[NODES];
static uint32_t of[NODES];
static struct mu_lists lists;

/* Each node leads to others, EDGES hundredths on the average. */
static void
make_nodes(unsigned seed, size_t edges)
{
	size_t i, word;

	srand(seed);
	folding_open_heap(FAKE_SPAN, (size_t)64 * NODES);
	for (i = 0; i < NODES; i++)
		nodes[i] = folding_node(4);
	for (i = 0; i < NODES * edges / 100; i++) {
		word = (size_t)rand() % 4;
		nodes[(size_t)rand() % NODES][word] =
		    nodes[(size_t)rand() % NODES];
	}
	fake_heap_seal(&folding_heap);
}

static void
open_trees(struct mu_trees *trees, struct mu_lost *lost, struct mu_graph *graph,
    struct mu_deadline *deadline)
{
	ck_assert_int_eq(mu_graph_make(graph, &folding_heap.blocks, NULL, NULL,
			     &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	ck_assert_int_eq(mu_lost_open(lost, graph, deadline), MU_OK);
	ck_assert_int_eq(mu_trees_find(trees, lost, deadline), MU_OK);
}

/* No edge leads up, none from what is left to what is peeled. */
static void
expect_order(const struct mu_trees *trees, struct mu_deadline *deadline)
{
	struct mu_tree_edges edges;
	uint32_t tree, target;

	for (tree = 0; tree < trees->num_trees; tree++) {
		mu_tree_edges_open(&edges, trees, tree, deadline);
		while (mu_tree_edges_next(&edges, &target))
			ck_assert(of[tree] == 0 ? of[target] == 0
						: of[target] < of[tree]);
	}
}

/* What was peeled is listed in that order, and what each tree leads to. */
static void
expect_lists(const struct mu_peel *peel)
{
	const struct mu_trees *trees = peel->trees;
	struct mu_tree_edges edges;
	uint32_t i, at, target;

	ck_assert_uint_eq(lists.count, trees->num_trees - peel->left);
	for (i = 0; i < lists.count; i++) {
		ck_assert_uint_eq(of[lists.trees[i]], FIRST - i);
		at = lists.first[i];
		mu_tree_edges_open(
		    &edges, trees, lists.trees[i], peel->deadline);
		for (; mu_tree_edges_next(&edges, &target); at++)
			ck_assert_uint_eq(lists.targets[at], target);
		ck_assert_uint_eq(lists.first[i + 1], at);
	}
	ck_assert_uint_le(lists.end, lists.num_targets);
}

static size_t
count_left(const struct mu_peel *peel)
{
	size_t count = 0;
	uint32_t tree;

	for (tree = 0; tree < peel->trees->num_trees; tree++)
		count += of[tree] == 0;
	ck_assert_uint_eq(count, peel->left);
	ck_assert_uint_eq(
	    FIRST - peel->next, peel->trees->num_trees - peel->left);
	return count;
}

static void
peel_all(
    struct mu_peel *peel, struct mu_trees *trees, struct mu_deadline *deadline)
{
	memset(of, 0, sizeof(of));
	*peel = (struct mu_peel) {
		.of = of, .next = FIRST, .lists = &lists, .deadline = deadline
	};
	ck_assert_int_eq(mu_peel_open(peel, trees, &folding_heap.arena), MU_OK);
	mu_peel(peel);
	expect_order(trees, deadline);
	expect_lists(peel);
}

/*
 * With fewer edges than one each, nearly nothing is in a cycle or below one;
 * with more, what is left is below the giant component.
 */
TEST_LOOP(random_graph, 1, 9)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	size_t edges = 25 * (size_t)_i;
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_peel peel;
	struct mu_lost lost;

	make_nodes((unsigned)_i, edges);
	open_trees(&trees, &lost, &graph, &deadline);
	peel_all(&peel, &trees, &deadline);
	if (edges < 100)
		ck_assert_uint_lt(count_left(&peel), trees.num_trees / 20);
	else
		ck_assert_uint_lt(count_left(&peel), trees.num_trees);
}

static void
swap_nodes(size_t a, size_t b)
{
	void **one = nodes[a];

	nodes[a] = nodes[b];
	nodes[b] = one;
}

/*
 * Each node leads to the next two in an order that is not that of addresses:
 * one after the other is peeled.
 */
TEST(shuffled)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_peel peel;
	struct mu_lost lost;
	size_t i;

	make_nodes(1, 0);
	for (i = NODES; i > 1; i--)
		swap_nodes(i - 1, (size_t)rand() % i);
	for (i = 0; i + 2 < NODES; i++) {
		nodes[i][0] = nodes[i + 1];
		nodes[i][1] = nodes[i + 2];
	}
	open_trees(&trees, &lost, &graph, &deadline);
	peel_all(&peel, &trees, &deadline);
	ck_assert_uint_eq(count_left(&peel), 0);
}

/* One node leads to more others than wait at a time. */
TEST(wide)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_peel peel;
	struct mu_lost lost;
	void **two[2];
	size_t i;

	folding_open_heap(FAKE_SPAN, (size_t)64 * NODES);
	for (i = 0; i < 1000; i++)
		nodes[i] = folding_node(4);
	for (i = 0; i < 2; i++)
		two[i] = folding_node(1000);
	for (i = 0; i < 1000; i++)
		two[0][i] = two[1][i] = nodes[i];
	fake_heap_seal(&folding_heap);
	open_trees(&trees, &lost, &graph, &deadline);
	peel_all(&peel, &trees, &deadline);
	ck_assert_uint_eq(count_left(&peel), 0);
}

/* More edges lead to one node than can be counted: it stays. */
TEST(many_ways)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_peel peel;
	struct mu_lost lost;
	size_t i;

	folding_open_heap(FAKE_SPAN, (size_t)64 * NODES);
	for (i = 0; i < 1000; i++)
		nodes[i] = folding_node(4);
	for (i = 2; i < 1000; i++)
		nodes[i][0] = nodes[0];
	nodes[0][0] = nodes[1];
	fake_heap_seal(&folding_heap);
	open_trees(&trees, &lost, &graph, &deadline);
	peel_all(&peel, &trees, &deadline);
	ck_assert_uint_le(count_left(&peel), 2);
	ck_assert_uint_ge(count_left(&peel), 1);
}

SUITE(.teardown = folding_teardown);
