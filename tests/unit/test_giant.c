/*
 * The giant component is found apart from the others: what comes out is what
 * the search in depth finds by itself, where edges are not stored.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/components.h"
#include "heapwalk/giant.h"
#include "tests/support/folding.h"
#include "tests/support/suite.h"

#define NODES 70000
#define EDGES 3

static void **nodes[NODES];
static uint32_t queue[NODES], parents[NODES];

static void
make(struct mu_lost *lost, struct mu_graph *made, bool stored)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	ck_assert_int_eq(mu_graph_make(made, &heap.blocks, NULL, NULL,
			     &heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	if (!stored) {
		made->cells = NULL;
		made->reads = true;
	}
	ck_assert_int_eq(mu_lost_open(lost, made, &deadline), MU_OK);
}

static void
find(struct mu_components *components, const struct mu_lost *lost)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	ck_assert_int_eq(
	    mu_components_find(components, lost, &heap.arena, &deadline),
	    MU_OK);
	components->deadline = &deadline;
	ck_assert(mu_components_charge(components));
}

static bool
has_giant(bool stored)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_giant giant;
	struct mu_lost lost;

	make(&lost, &graph, stored);
	return mu_giant_find(
	    &giant, &lost, queue, parents, &heap.arena, &deadline);
}

static void
expect_same(void)
{
	struct mu_components with, without;
	struct mu_graph stored_graph, read_graph;
	struct mu_lost stored, read;
	struct mu_component *a, *b;
	uint32_t node;

	make(&stored, &stored_graph, true);
	make(&read, &read_graph, false);
	find(&with, &stored);
	find(&without, &read);
	ck_assert_uint_eq(with.num_components, without.num_components);
	for (node = 0; node < NODES; node++) {
		a = &with.all[stored.nodes[node].component];
		b = &without.all[read.nodes[node].component];
		ck_assert_uint_eq(a->lowest, b->lowest);
		ck_assert_uint_eq(
		    a->parent == MU_NO_PARENT, b->parent == MU_NO_PARENT);
		if (a->parent != MU_NO_PARENT)
			continue;
		ck_assert_uint_eq(a->count, b->count);
		ck_assert_uint_eq(a->bytes, b->bytes);
	}
}

static void
make_nodes(void)
{
	size_t i;

	srand(1);
	open_heap(FAKE_SPAN, (size_t)64 * NODES);
	for (i = 0; i < NODES; i++)
		nodes[i] = node(EDGES);
}

/* Edges from anywhere to anywhere; a third of the nodes have only some. */
START_TEST(random_graph)
{
	size_t i, j, count;

	make_nodes();
	for (i = 0; i < NODES; i++) {
		count = i % 3 != 0 ? EDGES : (size_t)rand() % EDGES;
		for (j = 0; j < count; j++)
			nodes[i][j] = nodes[(size_t)rand() % NODES];
	}
	fake_heap_seal(&heap);
	ck_assert(has_giant(true));
	ck_assert(!has_giant(false));
	expect_same();
}
END_TEST

/* Edges lead to lower nodes only: all is below, nothing comes back. */
START_TEST(no_way_back)
{
	size_t i, j;

	make_nodes();
	for (i = 1; i < NODES; i++)
		for (j = 0; j < EDGES - 1; j++)
			nodes[i][j] = nodes[i / (2 + (size_t)rand() % 3) + j];
	nodes[1][1] = NULL;
	fake_heap_seal(&heap);
	ck_assert(!has_giant(true));
	expect_same();
}
END_TEST

/* A ring that is too thin, and one that is wide enough. */
START_TEST(rings)
{
	size_t i, width = _i ? 100 : 1;

	make_nodes();
	for (i = 0; i < NODES; i++) {
		nodes[i][0] = nodes[(i + width) % NODES];
		nodes[i][1] = nodes[(i + width + 1) % NODES];
	}
	fake_heap_seal(&heap);
	ck_assert_int_eq(has_giant(true), _i);
	expect_same();
}
END_TEST

START_TEST(late)
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
	fake_heap_seal(&heap);
	make(&lost, &graph, true);
	ck_assert_int_eq(
	    mu_components_find(&components, &lost, &heap.arena, &deadline),
	    MU_ERR_TIMEOUT);
}
END_TEST

/* Without memory for it nothing is lost. */
START_TEST(no_memory)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_graph graph;
	struct mu_giant giant;
	struct mu_lost lost;
	size_t i, j, n;

	make_nodes();
	for (i = 0; i < NODES; i++)
		for (j = 0; j < EDGES; j++)
			nodes[i][j] = nodes[(size_t)rand() % NODES];
	fake_heap_seal(&heap);
	make(&lost, &graph, true);
	for (n = 1; n <= 3; n++) {
		heap.arena.fail_at = n;
		ck_assert_int_eq(mu_giant_find(&giant, &lost, queue, parents,
				     &heap.arena, &deadline),
		    n == 3);
	}
	heap.arena.fail_at = 0;
	expect_same();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("giant");
	TCase *tc = tcase_create("giant");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, random_graph);
	tcase_add_test(tc, no_way_back);
	tcase_add_loop_test(tc, rings, 0, 2);
	tcase_add_test(tc, late);
	tcase_add_test(tc, no_memory);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
