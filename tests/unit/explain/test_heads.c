/*
 * Heads of random graphs: all that has no route is reached from them, none
 * leads to another, and of a cycle the one that was added first is the head.
 */
#include "lib/explain/heads.h"
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define NODES 40

static bool leads[NODES][NODES]; /* directly or not */
static struct mu_held_word root = { .kind = MU_HELD_GLOBALS };
static struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

static void
make_random(unsigned seed)
{
	void **made[NODES];
	size_t i, j;

	srand(seed);
	folding_open_heap(FAKE_SPAN, 4 << 20);
	for (i = 0; i < NODES; i++)
		made[i] = folding_node(NODES);
	for (i = 0; i < NODES; i++)
		for (j = 0; j < NODES; j++) {
			leads[i][j] =
			    i == j || (unsigned)rand() % NODES < seed % 3;
			if (leads[i][j])
				made[i][j] = made[j];
		}
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
}

static void
close_relation(void)
{
	size_t i, j, k;

	for (k = 0; k < NODES; k++)
		for (i = 0; i < NODES; i++)
			for (j = 0; j < NODES; j++)
				leads[i][j] |= leads[i][k] && leads[k][j];
}

/* Candidates are in random order, one of them twice. */
static size_t
add_random(struct mu_heads *heads, uint32_t candidates[NODES + 1])
{
	size_t i, count = 1 + (size_t)rand() % NODES;

	for (i = 0; i < count; i++)
		candidates[i] = (uint32_t)rand() % NODES;
	candidates[count++] = candidates[0];
	for (i = 0; i < count; i++)
		mu_heads_add(heads, candidates[i]);
	mu_heads_keep(heads);
	return count;
}

TEST_LOOP(heads_of_random_graphs, 0, 300)
{
	uint32_t list[NODES], candidates[NODES + 1], first;
	struct mu_held held = { .words = &root, .count = 1 };
	struct mu_routes routes;
	struct mu_heads heads;
	size_t i, j, count, reached;

	make_random((unsigned)_i);
	close_relation();
	ck_assert_int_eq(mu_routes_find(&routes, &folding_graph, &held,
			     &folding_heap.arena, &deadline),
	    MU_OK);
	mu_heads_open(&heads, &routes, list, &deadline);
	count = add_random(&heads, candidates);
	for (i = 0; i < count; i++) {
		for (j = reached = 0; j < heads.count; j++)
			reached += leads[list[j]][candidates[i]];
		ck_assert(reached > 0 || leads[0][candidates[i]]);
	}
	for (i = 0; i < heads.count; i++) {
		ck_assert(mu_heads_has(&heads, list[i]));
		ck_assert(!leads[0][list[i]]);
		for (j = 0; j < heads.count; j++)
			ck_assert(i == j || !leads[list[i]][list[j]]);
		for (j = 0; !leads[candidates[j]][list[i]]; j++)
			continue;
		first = candidates[j];
		ck_assert(first == list[i] || !leads[list[i]][first]);
	}
	folding_teardown();
}

SUITE();
