/*
 * Trees in place of cells, compared with the parents that were drawn; and what
 * that is for: lost blocks take no more memory than reachable ones.
 */
#include "heapwalk/fold/forest.h"
#include "heapwalk/mark/mark.h"
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define NODES 70000 /* so that marks are borrowed */
#define WORDS 4
#define MANY 200000
#define NONE UINT32_MAX

static void **nodes[MANY];
static uint32_t order[NODES], parents[NODES], used[NODES];
static uint32_t heads[NODES], seen[NODES]; /* as they should be; 1 + by whom */

static void
make_heap(size_t count)
{
	size_t i;

	folding_open_heap(FAKE_SPAN, (size_t)64 * count);
	for (i = 0; i < count; i++)
		nodes[i] = folding_node(WORDS);
}

static void
shuffle(uint32_t *numbers, uint32_t count)
{
	uint32_t i, j, number;

	for (i = 0; i < count; i++)
		numbers[i] = i;
	for (i = count; i > 1; i--) {
		j = (uint32_t)rand() % i;
		number = numbers[i - 1];
		numbers[i - 1] = numbers[j];
		numbers[j] = number;
	}
}

static void
lead(uint32_t from, uint32_t to)
{
	nodes[from][used[from]++] = nodes[to];
	parents[to] = from;
}

/* Let NODE lead to the root above it, if that is at most FAR steps away. */
static void
close_ring(uint32_t node, uint32_t far)
{
	uint32_t at = node, steps;

	for (steps = 0; parents[at] != NONE; steps++) {
		if (steps == far)
			return;
		at = parents[at];
	}
	if (at != node && used[node] < WORDS)
		lead(node, at);
}

/*
 * Each node has a parent among the NEAR nodes before it, if that has room, but
 * for one in SOURCES; RINGS of them are led to by what is below.
 */
static void
make_forest(uint32_t near, uint32_t sources, uint32_t rings)
{
	uint32_t i, from;

	memset(used, 0, sizeof(used));
	memset(parents, 0xff, sizeof(parents));
	make_heap(NODES);
	shuffle(order, NODES);
	for (i = 1; i < NODES; i++) {
		from = i - 1 - (uint32_t)rand() % (i < near ? i : near);
		if ((uint32_t)rand() % sources != 0 &&
		    used[order[from]] < WORDS)
			lead(order[from], order[i]);
	}
	for (i = 0; i < rings; i++)
		close_ring((uint32_t)rand() % NODES, 9 * NODES / rings);
	fake_heap_seal(&folding_heap);
}

/* The lowest node of the ring on which NODE is. */
static uint32_t
lowest_of(uint32_t node)
{
	uint32_t at = parents[node], lowest = node;

	for (; at != node; at = parents[at])
		lowest = at < lowest ? at : lowest;
	return lowest;
}

static uint32_t
find_head(uint32_t node)
{
	uint32_t at = node, head;

	while (
	    heads[at] == NONE && parents[at] != NONE && seen[at] != 1 + node) {
		seen[at] = 1 + node;
		at = parents[at];
	}
	head = heads[at];
	if (head == NONE)
		head = parents[at] == NONE ? at : lowest_of(at);
	for (at = node; heads[at] == NONE; at = parents[at]) {
		heads[at] = head;
		if (parents[at] == NONE)
			break;
	}
	return head;
}

/* One assertion for all: to note each takes longer than to test it. */
static void
expect_trees(const struct mu_trees *trees)
{
	const struct mu_lost *lost = trees->lost;
	uint32_t i, num_trees = 0, wrong = 0, node, tree;
	bool head;

	memset(heads, 0xff, sizeof(heads));
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < NODES; i++)
		find_head(i);
	for (i = 0; i < NODES; i++) {
		if (mu_lost_alone(lost, i))
			continue;
		node = mu_lost_node(lost, i);
		head = mu_tree_entered(trees, node, &tree);
		wrong +=
		    mu_tree_head(trees, tree) != mu_lost_node(lost, heads[i]) ||
		    head != (heads[i] == i);
		num_trees += heads[i] == i;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(trees->num_trees, num_trees);
}

static void
find_forest(void)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_arena *arena = &folding_heap.arena;
	struct mu_graph graph;
	struct mu_trees trees;
	struct mu_lost lost;

	ck_assert_int_eq(mu_graph_make(&graph, &folding_heap.blocks, NULL, NULL,
			     arena, FAKE_NO_DEADLINE),
	    MU_OK);
	ck_assert_int_eq(mu_lost_open(&lost, &graph, &deadline), MU_OK);
	lost.trees_only = true;
	ck_assert_int_eq(mu_trees_find(&trees, &lost, &deadline), MU_OK);
	ck_assert_ptr_null(lost.cells);
	expect_trees(&trees);
}

static const struct shape {
	uint32_t near, sources, rings;
} shapes[] = {
	{ 1, NODES, 0 },     /* some long lists */
	{ 1, NODES, 9 },     /* and long rings */
	{ 1, 5, NODES / 2 }, /* short lists and rings */
	{ 8, 1000, 100 },    /* trees that are deep */
	{ 8, 2, NODES },     /* pairs, trees, and what is alone */
	{ NODES, NODES, 1 }, /* one tree, which is wide */
	{ NODES, 9, 1000 },  /* small trees */
};

TEST_LOOP(random_forests, 0, sizeof(shapes) / sizeof(*shapes))
{
	srand((unsigned)_i);
	make_forest(shapes[_i].near, shapes[_i].sources, shapes[_i].rings);
	find_forest();
}

/* Lists in both orders of the addresses, and a table of all others. */
TEST_LOOP(in_order, 0, 3)
{
	uint32_t i;

	memset(used, 0, sizeof(used));
	memset(parents, 0xff, sizeof(parents));
	make_heap(NODES - 1);
	nodes[NODES - 1] = folding_node(NODES);
	for (i = 1; i < NODES; i++)
		if (_i == 0)
			lead(i - 1, i);
		else if (_i == 1)
			lead(i, i - 1);
		else
			lead(NODES - 1, i - 1);
	fake_heap_seal(&folding_heap);
	find_forest();
}

#define LISTS 64

enum joined { LIST, SHUFFLED, RING, TREE, GRAPH, HOLDERS, ALL_JOINED };

/* Lists of elements that hold a block each; heads are in a list. */
static void
join_holders(void)
{
	uint32_t elements = MANY / 2, i;

	make_heap(MANY);
	for (i = 0; i < elements; i++) {
		if (i + LISTS < elements)
			nodes[i][0] = nodes[i + LISTS];
		nodes[i][1] = nodes[elements + i];
		if (i + 1 < LISTS)
			nodes[i][2] = nodes[i + 1];
	}
	fake_heap_seal(&folding_heap);
}

static void
join(enum joined how)
{
	static uint32_t numbers[MANY];
	uint32_t i;

	if (how == HOLDERS) {
		join_holders();
		return;
	}
	make_heap(MANY);
	shuffle(numbers, MANY);
	for (i = 0; i < MANY; i++) {
		if (how == LIST || how == TREE)
			numbers[i] = i;
		if (how < TREE && i > 0)
			nodes[numbers[i - 1]][0] = nodes[numbers[i]];
	}
	if (how == RING)
		nodes[numbers[MANY - 1]][0] = nodes[numbers[0]];
	for (i = 1; i < MANY && how >= TREE; i++)
		nodes[numbers[(i - 1) / 2]][i % 2] = nodes[numbers[i]];
	for (i = 0; i < MANY && how == GRAPH; i++)
		nodes[i][2] = nodes[(uint32_t)rand() % MANY];
	nodes[0] = nodes[numbers[0]];
	fake_heap_seal(&folding_heap);
}

/* The memory for all of this, of which all or nothing is LOST. */
static size_t
memory_of(enum joined how, bool lost)
{
	struct mu_block block;
	size_t memory;

	srand(1);
	join(how);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	ck_assert(
	    mu_blocks_find(&folding_heap.blocks, (uintptr_t)nodes[0], &block));
	if (!lost)
		mu_block_mark(&block);
	ck_assert_int_eq(mu_mark(&folding_graph, FAKE_NO_DEADLINE), MU_OK);
	folding_wanted.limit = 1;
	ck_assert_int_eq(mu_fold(&folding_leaks, &folding_graph,
			     &folding_wanted, FAKE_NO_DEADLINE, &folding_why),
	    MU_OK);
	ck_assert_uint_eq(folding_leaks.num_leaks, lost ? MANY : 0);
	memory = folding_heap.arena.used;
	folding_teardown();
	return memory;
}

TEST_LOOP(takes_no_more, 0, ALL_JOINED)
{
	size_t piece = (size_t)256 << 10; /* of an arena */

	ck_assert_uint_le(memory_of((enum joined)_i, true),
	    memory_of((enum joined)_i, false) + piece);
}

/*
 * A large block is left out after marking (mu_known_leave_out()): its parts are
 * nodes, but no block is lost.
 */
TEST(only_parts_are_left)
{
	struct mu_block block;
	void **large;
	uint32_t i;

	folding_open_heap(FAKE_SPAN, (size_t)64 * MANY + (1 << 20));
	for (i = 0; i < MANY; i++)
		nodes[i] = folding_node(WORDS);
	large = folding_node(MU_GRAPH_LARGE / 4);
	for (i = 0; i < MU_GRAPH_LARGE / 4; i += 8)
		large[i] = (void *)1;
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	for (i = 0; i < MANY; i++)
		mu_blocks_mark(&folding_heap.blocks, i);
	ck_assert_int_eq(mu_mark(&folding_graph, FAKE_NO_DEADLINE), MU_OK);
	ck_assert(
	    mu_blocks_find(&folding_heap.blocks, (uintptr_t)large, &block));
	mu_block_mark(&block);
	folding_wanted.limit = 100;
	ck_assert_int_eq(mu_fold(&folding_leaks, &folding_graph,
			     &folding_wanted, FAKE_NO_DEADLINE, &folding_why),
	    MU_OK);
	ck_assert_uint_eq(folding_leaks.num_leaks, 0);
}

/* Marks are what they were, though their memory was used. */
TEST(marks_are_left)
{
	uint32_t i, wrong = 0;

	make_heap(MANY);
	for (i = 0; i + 2 < MANY; i += 3)
		nodes[i][0] = nodes[i + 1];
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	for (i = 0; i < MANY; i += 5)
		mu_blocks_mark(&folding_heap.blocks, i);
	folding_wanted.limit = 1;
	ck_assert_int_eq(mu_fold(&folding_leaks, &folding_graph,
			     &folding_wanted, FAKE_NO_DEADLINE, &folding_why),
	    MU_OK);
	for (i = 0; i < MANY; i++)
		wrong +=
		    mu_blocks_marked(&folding_heap.blocks, i) != (i % 5 == 0);
	ck_assert_uint_eq(wrong, 0);
}

SUITE(.teardown = folding_teardown);
