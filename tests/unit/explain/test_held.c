/*
 * The words outside of blocks that refer to blocks, and the shortest routes
 * from them.
 */
#include <stdlib.h>

#include "heapwalk/explain/edges.h"
#include "heapwalk/explain/held.h"
#include "heapwalk/explain/routes.h"
#include "heapwalk/graph/references.h"
#include "tests/support/graph/referring.h"
#include "tests/support/suite.h"

#define WORDS 200
#define NODES 40

static struct mu_held held;
static struct mu_routes routes;

static void
find_held(void)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	mark();
	ck_assert_int_eq(mu_held_find(&held, &marking_graph, &marking_roots,
			     &referring_snap, &marking_heap.arena, &deadline),
	    MU_OK);
}

static void
find_routes_of_held(void)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	ck_assert_int_eq(mu_routes_find(&routes, &marking_graph, &held,
			     &marking_heap.arena, &deadline),
	    MU_OK);
}

static void
find_routes(void)
{
	find_held();
	find_routes_of_held();
}

/* Each word of a root is one, or is none, as the rule of marking has it. */
TEST_LOOP(as_marking_has_it, 0, 200)
{
	char *slots[WORDS], *blocks[NODES];
	size_t i, at = 0;
	struct mu_block to;

	srand((unsigned)_i);
	open_case(_i % FAKE_KINDS, 1 << 16);
	for (i = 0; i < NODES; i++)
		blocks[i] =
		    fake_block(&marking_heap, 24 + (size_t)rand() % 300, false);
	for (i = 0; i < WORDS; i++)
		slots[i] = rand() % 3 == 0
		    ? NULL
		    : blocks[rand() % NODES] + rand() % 400 - 20;
	root_range(slots, slots + WORDS);
	find_held();
	for (i = 0; i < WORDS; i++) {
		if (!mu_reference_find(
			&marking_heap.blocks, 0, (uintptr_t)slots[i], &to))
			continue;
		ck_assert_uint_lt(at, held.count);
		ck_assert_uint_eq(held.words[at].address, (uintptr_t)&slots[i]);
		ck_assert_uint_eq(held.words[at].node, to.number);
		at++;
	}
	ck_assert_uint_eq(held.count, at);
}

/* A register is known by the index of its value. */
TEST(registers)
{
	struct mu_thread thread = {
		.tid = 7, .first_value = 0, .num_values = 3
	};
	uintptr_t values[3] = { 1, 0, 2 };
	char *block;

	open_case(FAKE_SPAN, 4096);
	block = fake_block(&marking_heap, 40, false);
	values[1] = (uintptr_t)block;
	referring_snap.threads = &thread;
	referring_snap.num_threads = 1;
	referring_snap.values = values;
	referring_snap.num_values = 3;
	root_value(block);
	find_held();
	ck_assert_uint_eq(held.count, 1);
	ck_assert_uint_eq(held.words[0].kind, MU_HELD_REGISTER);
	ck_assert_uint_eq(held.words[0].address, 1);
	ck_assert_uint_eq(held.words[0].thread, 0);
}

static uint32_t
number_of(const void *p)
{
	struct mu_block block;

	ck_assert(mu_blocks_find(&marking_heap.blocks, (uintptr_t)p, &block));
	return block.number;
}

TEST(shortest)
{
	void **a, **b, **c, **d, **lost, *slots[2];
	struct mu_route_step step;
	const struct mu_range none = { 0, 0 };
	size_t offset, into;

	open_case(FAKE_SPAN, 4096);
	a = marking_node(4);
	b = marking_node(4);
	c = marking_node(4);
	d = marking_node(4);
	lost = marking_node(4);
	slots[0] = a;
	slots[1] = d;
	a[0] = b;
	b[1] = c;
	c[2] = d;
	d[3] = (char *)c + 8;
	lost[0] = a;
	root_range(slots, slots + 2);
	find_routes();
	step = mu_routes_step(&routes, number_of(c));
	ck_assert(!step.root && !step.doubtful);
	ck_assert_uint_eq(step.index, number_of(d));
	step = mu_routes_step(&routes, number_of(d));
	ck_assert(step.root && !step.doubtful);
	ck_assert_uint_eq(held.words[step.index].address, (uintptr_t)&slots[1]);
	ck_assert_uint_eq(
	    mu_routes_step(&routes, number_of(lost)).index, MU_NO_NODE);
	ck_assert(mu_route_word(
	    &marking_graph, number_of(d), number_of(c), none, &offset, &into));
	ck_assert_uint_eq(offset, 3 * W);
	ck_assert_uint_eq(into, 8);
	ck_assert(!mu_route_word(
	    &marking_graph, number_of(a), number_of(d), none, &offset, &into));
}

/* A certain root is preferred, although its route is longer. */
TEST(doubtful)
{
	void **a, **b, **c, *certain, *stack[2];
	struct mu_route_step step;

	open_case(FAKE_SPAN, 4096);
	a = marking_node(4);
	b = marking_node(4);
	c = marking_node(4);
	a[0] = b;
	certain = a;
	stack[0] = b;
	stack[1] = c;
	root_range(&certain, &certain + 1);
	root_range(stack, stack + 2);
	marking_ranges[marking_roots.num_ranges - 1].kind = MU_ROOT_STACK;
	find_routes();
	step = mu_routes_step(&routes, number_of(b));
	ck_assert(!step.root && !step.doubtful);
	ck_assert_uint_eq(step.index, number_of(a));
	step = mu_routes_step(&routes, number_of(c));
	ck_assert(step.root && step.doubtful);
}

/* TARGET is the block at CTX. */
static bool
is_block(void *ctx, uint32_t target)
{
	return target == number_of(ctx);
}

static bool
is_any(void *ctx, uint32_t target)
{
	(void)ctx;
	(void)target;
	return true;
}

/* Edges that are dropped lead nowhere; the others of the node remain. */
TEST_LOOP(dropped, 0, 3)
{
	void **from, **to[3], *slot;
	size_t i;

	open_case(FAKE_SPAN, 4096);
	from = marking_node(4);
	for (i = 0; i < 3; i++)
		from[i] = to[i] = marking_node(4);
	slot = from;
	root_range(&slot, &slot + 1);
	find_held();
	mu_edges_drop(&marking_graph, number_of(from), is_block, to[_i]);
	find_routes_of_held();
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(
		    mu_routes_step(&routes, number_of(to[i])).index ==
			MU_NO_NODE,
		    i == (size_t)_i);
	mu_edges_drop(&marking_graph, number_of(from), is_any, NULL);
	mu_edges_drop(&marking_graph, number_of(to[0]), is_any, NULL);
	find_routes_of_held();
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(
		    mu_routes_step(&routes, number_of(to[i])).index,
		    MU_NO_NODE);
	ck_assert_uint_eq(marking_graph.cells[number_of(from)], MU_CELL_NONE);
}

/* The only edge of a node is in its cell. */
TEST(dropped_one)
{
	void **from, **to, *slot;

	open_case(FAKE_SPAN, 4096);
	from = marking_node(4);
	from[2] = to = marking_node(4);
	slot = from;
	root_range(&slot, &slot + 1);
	find_held();
	mu_edges_drop(&marking_graph, number_of(from), is_block, from);
	ck_assert_uint_eq(
	    marking_graph.cells[number_of(from)], MU_CELL_ONE | number_of(to));
	mu_edges_drop(&marking_graph, number_of(from), is_block, to);
	ck_assert_uint_eq(marking_graph.cells[number_of(from)], MU_CELL_NONE);
}

SUITE(.teardown = marking_teardown);
