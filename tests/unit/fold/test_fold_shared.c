/*
 * Folding what many owners share: the work is linear in nodes and edges. Work
 * is counted in words (heapwalk/subject/deadline.h), not in time.
 */
#include "heapwalk/fold/components.h"
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define NODES 100000
#define WORDS_EACH 48 /* of work, at most, for each node and its edges */

static void **nodes[NODES], **wrappers[NODES];
static size_t to[NODES]; /* of a functional graph: where its one edge leads */

static size_t num_wanted = SIZE_MAX; /* of the largest owners */

/* The deadline passes as soon as more than LIMIT words of work are done. */
static void
charge(struct mu_components *components, size_t limit)
{
	static struct mu_deadline deadline;
	struct mu_deadline never = { .ns = FAKE_NO_DEADLINE };
	static struct mu_lost lost;

	deadline = (struct mu_deadline) { .ns = 0, .left = limit };
	if (!folding_heap.blocks.sealed)
		fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	if (after_make != NULL)
		after_make();
	ck_assert_int_eq(mu_lost_open(&lost, &folding_graph, &never), MU_OK);
	ck_assert_int_eq(
	    mu_components_find(components, &lost, &folding_heap.arena, &never),
	    MU_OK);
	components->deadline = &deadline;
	ck_assert_int_eq(
	    mu_components_sum_retained(components, &folding_heap.arena), MU_OK);
	ck_assert_int_eq(mu_components_sum_owners(
			     components, num_wanted, &folding_heap.arena),
	    MU_OK);
}

static void
charge_linear(struct mu_components *components, size_t num_nodes, bool stored)
{
	after_make = stored ? NULL : forget_edges;
	charge(components, num_nodes * WORDS_EACH);
	after_make = NULL;
	ck_assert_msg(!components->deadline->passed,
	    "more than %d words of work a node", WORDS_EACH);
}

static uint32_t
component_at(const struct mu_components *components, void **block)
{
	struct mu_block found;

	/* All blocks are lost: they have the same numbers as nodes. */
	ck_assert(
	    mu_blocks_find(&folding_heap.blocks, (uintptr_t)block, &found));
	return mu_component_of(components, found.number);
}

/* BLOCK is an owner that reaches NUM_NODES nodes, itself included. */
static void
expect_reach(
    const struct mu_components *components, void **block, size_t num_nodes)
{
	uint32_t number = component_at(components, block);
	size_t count, size;

	ck_assert_uint_eq(components->all[number].parent, MU_NO_PARENT);
	mu_components_reach(components, number, &count, &size);
	ck_assert_uint_eq(count, num_nodes);
	ck_assert_uint_eq(size, num_nodes * bytes(2));
}

/* Each node leads to the one before it, and a wrapper to each node. */
static void
make_comb(void)
{
	size_t i;

	folding_open_heap(FAKE_SPAN, (size_t)120 * NODES);
	for (i = 0; i < NODES; i++) {
		nodes[i] = folding_node(2);
		wrappers[i] = folding_node(2);
		wrappers[i][0] = nodes[i];
		if (i > 0)
			nodes[i][0] = nodes[i - 1];
	}
}

TEST_LOOP(comb, 0, 2)
{
	struct mu_components components;
	size_t i;

	make_comb();
	charge_linear(&components, (size_t)2 * NODES, _i == 0);
	for (i = 0; i < NODES; i++)
		expect_reach(&components, wrappers[i], i + 2);
}

/* What the list ends in is shared, and no tree: it is walked once. */
TEST_LOOP(comb_with_diamond, 0, 2)
{
	struct mu_components components;
	void **left, **right;
	size_t i;

	make_comb();
	left = folding_node(2);
	right = folding_node(2);
	nodes[0][0] = left;
	nodes[0][1] = right;
	left[0] = right[0] = folding_node(2);
	charge_linear(&components, (size_t)2 * NODES, _i == 0);
	for (i = 0; i < NODES; i++)
		expect_reach(&components, wrappers[i], i + 5);
}

static size_t seen[NODES]; /* 1 + the node from which it was seen last */

/* How many nodes FROM reaches, itself included. */
static size_t
follow(size_t from)
{
	size_t count = 0, at = from;

	for (; seen[at] != from + 1; at = to[at], count++)
		seen[at] = from + 1;
	return count;
}

/* One edge from each node to any: rings, and trees that lead into them. */
TEST_LOOP(functional, 0, 2)
{
	struct mu_components components;
	size_t i, num_owners = 0;

	srand(1);
	memset(seen, 0, sizeof(seen));
	folding_open_heap(FAKE_SPAN, (size_t)40 * NODES);
	for (i = 0; i < NODES; i++)
		nodes[i] = folding_node(2);
	for (i = 0; i < NODES; i++) {
		to[i] = (size_t)rand() % NODES;
		nodes[i][0] = nodes[to[i]];
	}
	charge_linear(&components, NODES, _i == 0);
	for (i = 0; i < NODES; i++) {
		if (components.all[component_at(&components, nodes[i])]
			.parent != MU_NO_PARENT)
			continue;
		expect_reach(&components, nodes[i], follow(i));
		num_owners++;
	}
	ck_assert_uint_gt(num_owners, NODES / 4);
}

/*
 * No, one or two edges from each node to any, one on average: few blocks have
 * one parent, and no component is large. An owner reaches a hundred nodes on
 * average, but only the largest owners are of interest.
 */
TEST_LOOP(sparse, 0, 2)
{
	struct mu_components components;
	size_t i, edges;

	srand(1);
	folding_open_heap(FAKE_SPAN, (size_t)40 * NODES);
	for (i = 0; i < NODES; i++)
		nodes[i] = folding_node(2);
	for (i = 0; i < NODES; i++)
		for (edges = (size_t)rand() % 3; edges > 0; edges--)
			nodes[i][edges - 1] = nodes[(size_t)rand() % NODES];
	num_wanted = 100;
	charge_linear(&components, NODES, _i == 0);
	num_wanted = SIZE_MAX;
}

/*
 * Two lists that meet, as a fork; wrappers lead to a node of each, and all
 * nodes of the lists to one more block.
 */
TEST_LOOP(two_lists, 0, 2)
{
	struct mu_components components;
	void **common;
	size_t i, third = NODES / 3;

	make_comb();
	common = folding_node(2);
	nodes[2 * third][0] = nodes[third - 1];
	for (i = 0; i < 3 * third; i++)
		nodes[i][1] = common;
	for (i = 0; i < third; i++)
		wrappers[third + i][1] = nodes[2 * third + i];
	charge_linear(&components, (size_t)2 * NODES, _i == 0);
	for (i = 0; i < third; i++) {
		expect_reach(&components, wrappers[i], i + 3);
		expect_reach(
		    &components, wrappers[third + i], third + 2 * i + 4);
	}
}

/*
 * What leads to two lists that meet is shared by two wrappers each, which walk
 * the lists anew until the deadline: what they are charged for by then is not
 * too much.
 */
TEST(late)
{
	struct mu_components components;
	size_t i, count, size, all, num_exact = 0, half = NODES / 2;
	void **middle;

	make_comb();
	nodes[half][0] = nodes[half / 2];
	for (i = 0; i < half; i++) {
		middle = folding_node(2);
		middle[0] = nodes[half + i];
		middle[1] = nodes[half / 2 + i / 2];
		wrappers[i][0] = wrappers[half + i][0] = middle;
	}
	charge(&components, (size_t)2 * NODES * WORDS_EACH);
	ck_assert(components.deadline->passed);
	for (i = 0; i < NODES; i++) {
		mu_components_reach(&components,
		    component_at(&components, wrappers[i]), &count, &size);
		all = 2 + i % half + 1 + half / 2 + i % half / 2 + 1;
		ck_assert_uint_ge(count, 1);
		ck_assert_uint_le(count, all);
		ck_assert_uint_eq(size, count * bytes(2));
		num_exact += count == all;
	}
	ck_assert_uint_gt(num_exact, 0);
	ck_assert_uint_lt(num_exact, NODES);
}

/*
 * 64 wrappers reach two lists that meet, through a block each: the lists are
 * walked once for all of them.
 */
TEST_LOOP(together, 0, 2)
{
	struct mu_components components;
	size_t i, half = NODES / 2;
	void **middle;

	make_comb();
	nodes[half][0] = nodes[half / 2];
	for (i = 0; i < 64; i++) {
		wrappers[i][0] = middle = folding_node(2);
		middle[0] = nodes[NODES - 1 - i];
		middle[1] = nodes[half - 1 - i];
	}
	charge_linear(&components, (size_t)2 * NODES, _i == 0);
	for (i = 0; i < 64; i++)
		expect_reach(&components, wrappers[i], 2 + 2 * (half - i));
}

/* Diamonds are walked anew for each wrapper, until the deadline. */
TEST(diamonds)
{
	void **left, **right;
	size_t i;

	folding_open_heap(FAKE_SPAN, (size_t)200 * NODES);
	for (i = 0; i < NODES; i++) {
		nodes[i] = folding_node(2);
		nodes[i][0] = left = folding_node(2);
		nodes[i][1] = right = folding_node(2);
		left[0] = right[0] = i > 0 ? nodes[i - 1] : NULL;
		folding_node(2)[0] = left;
		folding_node(2)[0] = right;
	}
	ck_assert_int_eq(
	    fold_until(2, mu_sys_now_ns() + 1000000000), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(folding_why.text, "time"));
	ck_assert_uint_eq(folding_leaks.num_leaks, (size_t)5 * NODES);
	ck_assert_uint_le(folding_leaks.unreported_count, (size_t)5 * NODES);
	ck_assert_uint_le(
	    folding_leaks.unreported_bytes, folding_leaks.leak_bytes);
}

SUITE(.teardown = folding_teardown);
