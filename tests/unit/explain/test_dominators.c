/*
 * The dominator tree, compared with a model: what is lost if a node is removed.
 */
#include "heapwalk/explain/dominators.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/mark/mark.h"
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define NODES 60
#define HOLDERS 5
#define LONG 20000

static uint32_t certain; /* holders */
static bool edges[NODES][NODES], held[HOLDERS][NODES];
static void **made[NODES];
static size_t sizes[NODES]; /* bytes */

static struct mu_dominators tree;
static uint32_t first[HOLDERS + 1], targets[HOLDERS * NODES];

/* One of them has parts. */
static void
make_random(unsigned seed)
{
	size_t i, j, degree, words;

	srand(seed);
	memset(edges, 0, sizeof(edges));
	memset(held, 0, sizeof(held));
	degree = 1 + (size_t)rand() % 4;
	folding_open_heap(rand() % 2 ? FAKE_SPAN : FAKE_LISTED, 4 << 20);
	for (i = 0; i < NODES; i++) {
		words = i == NODES / 2 && seed % 2 ? 3 * MU_GRAPH_LARGE / W
						   : NODES + (size_t)rand() % 9;
		made[i] = folding_node(words);
		sizes[i] = bytes(words);
		for (j = 0; j < NODES; j++) {
			if (j == i || (size_t)rand() % NODES >= degree)
				continue;
			edges[i][j] = true;
		}
	}
	for (i = 0; i < NODES; i++)
		for (j = 0; j < NODES; j++)
			if (edges[i][j])
				made[i][(words = sizes[i] / W,
				    words > 2 * NODES ? j * words / NODES
						      : j)] = made[j];
	certain = (uint32_t)rand() % (HOLDERS + 1);
	for (i = 0; i < HOLDERS; i++)
		for (j = 0; j < NODES; j++)
			held[i][j] = rand() % (3 * NODES) < (int)degree * 4;
}

static void
find_tree(void)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_holders holders = { first, targets, HOLDERS, certain };
	uint32_t i, j, count = 0;

	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	for (i = 0; i < HOLDERS; i++) {
		first[i] = count;
		for (j = 0; j < NODES; j++) {
			if (!held[i][j])
				continue;
			targets[count++] = j;
			mu_blocks_mark(&folding_heap.blocks, j);
		}
	}
	first[HOLDERS] = count;
	ck_assert_int_eq(mu_mark(&folding_graph, FAKE_NO_DEADLINE), MU_OK);
	ck_assert_int_eq(
	    mu_dominators_find(&tree, &folding_graph, &holders, &deadline),
	    MU_OK);
}

/* What the first COUNT holders reach without node WITHOUT or holder NO. */
static void
reach(size_t count, size_t without, size_t no, bool reached[NODES])
{
	size_t stack[NODES * NODES + NODES * HOLDERS], depth = 0, i, j;

	memset(reached, 0, NODES * sizeof(*reached));
	for (i = 0; i < count; i++)
		for (j = 0; j < NODES && i != no; j++)
			if (held[i][j])
				stack[depth++] = j;
	while (depth > 0) {
		i = stack[--depth];
		if (reached[i] || i == without)
			continue;
		reached[i] = true;
		for (j = 0; j < NODES; j++)
			if (edges[i][j])
				stack[depth++] = j;
	}
}

static void
expect(uint32_t number, size_t without, size_t no, const bool all[NODES],
    const bool sure[NODES])
{
	bool rest[NODES], sure_rest[NODES];
	size_t i, lost = 0, count = 0;

	reach(HOLDERS, without, no, rest);
	reach(certain, without, no, sure_rest);
	for (i = 0; i < NODES; i++) {
		if (!all[i] || (sure[i] ? sure_rest[i] : rest[i]))
			continue;
		lost += sizes[i];
		count++;
	}
	ck_assert_uint_eq(tree.retained[number], lost);
	ck_assert_uint_eq(tree.blocks[number], count);
}

/* Who has NUMBER: a holder's index, or HOLDERS and a node's; -1: the top. */
static int
who(const struct mu_dominators *of, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < of->num_holders + of->num_nodes; i++)
		if (of->numbers[i] == number)
			return (int)i;
	return -1;
}

/* The other way finds the same tree; it is used for graphs that are deep. */
static void
expect_same(void)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_holders holders = { first, targets, HOLDERS, certain };
	struct mu_dominators other = tree;
	struct mu_arena *arena = &folding_heap.arena;
	size_t all = mu_dominators_size(&tree);
	uint32_t i;

	other.numbers = mu_arena_alloc(arena, all, sizeof(uint32_t));
	other.parents = mu_arena_alloc(arena, all, sizeof(uint32_t));
	other.blocks = mu_arena_alloc(arena, all, sizeof(uint32_t));
	other.retained = mu_arena_alloc(arena, all, sizeof(size_t));
	ck_assert_int_eq(
	    mu_dominators_semi_nca(&other, &folding_graph, &holders, &deadline),
	    MU_OK);
	ck_assert_uint_eq(other.count, tree.count);
	for (i = 0; i < tree.num_holders + tree.num_nodes; i++) {
		ck_assert_int_eq(other.numbers[i] != 0, tree.numbers[i] != 0);
		if (tree.numbers[i] != 0)
			ck_assert_int_eq(
			    who(&other, other.parents[other.numbers[i]]),
			    who(&tree, tree.parents[tree.numbers[i]]));
	}
}

TEST_LOOP(as_the_model, 0, 1000)
{
	bool all[NODES], sure[NODES];
	uint32_t i;

	make_random((unsigned)_i);
	find_tree();
	reach(HOLDERS, NODES, HOLDERS, all);
	reach(certain, NODES, HOLDERS, sure);
	for (i = 0; i < NODES; i++) {
		ck_assert_int_eq(mu_dominators_number(&tree, i) != 0, all[i]);
		if (all[i])
			expect(mu_dominators_number(&tree, i), i, HOLDERS, all,
			    sure);
	}
	for (i = 0; i < HOLDERS; i++)
		expect(tree.numbers[i], NODES, i, all, sure);
	expect_same();
}

/* Two ends of a list whose blocks point both ways: sweeps must not take long.
 */
TEST(both_ends)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	static const uint32_t ends[] = { 0, LONG - 1 };
	static const uint32_t begins[] = { 0, 1, 2 };
	struct mu_holders holders = { begins, ends, 2, 2 };
	void **list[LONG];
	uint32_t i;

	folding_open_heap(FAKE_SPAN, LONG * 64);
	for (i = 0; i < LONG; i++)
		list[i] = folding_node(2);
	for (i = 0; i < LONG; i++) {
		list[i][0] = i > 0 ? list[i - 1] : NULL;
		list[i][1] = i + 1 < LONG ? list[i + 1] : NULL;
	}
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	ck_assert_int_eq(
	    mu_dominators_find(&tree, &folding_graph, &holders, &deadline),
	    MU_OK);
	for (i = 0; i < LONG; i++)
		ck_assert_uint_eq(tree.parents[mu_dominators_number(&tree, i)],
		    MU_DOMINATORS_TOP);
}

SUITE(.teardown = folding_teardown);
