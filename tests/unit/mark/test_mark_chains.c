/*
 * Long chains in random order are marked from many places at once: exactly what
 * can be reached, with any number of workers.
 */
#include "heapwalk/mark/marking.h"
#include "tests/support/graph/marking.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define NODES 300000 /* fewer are not worth it */
#define DEPTH 4096

enum shape { WHOLE, HALF, RING, PIECES, MERGING, BRANCHES, SHAPES };

static const unsigned counts[] = { 1, 2, 4 };

static void **nodes[NODES];
static uint32_t order[NODES], todo[NODES];
static uint32_t edges[NODES][2]; /* NODES: none */
static bool reached[NODES];

static uint32_t
any(void)
{
	return (uint32_t)rand() % NODES;
}

static void
make_nodes(void)
{
	uint32_t i, j, swap;

	marking_open_heap(FAKE_SPAN, (size_t)NODES * FAKE_MIN_CHUNK + 4096);
	for (i = 0; i < NODES; i++) {
		nodes[i] = marking_node(2);
		order[i] = i;
		edges[i][0] = edges[i][1] = NODES;
		reached[i] = false;
	}
	for (i = NODES; i-- > 1;) {
		j = (uint32_t)rand() % (i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

static void
make_edges(enum shape shape)
{
	uint32_t i, *from;

	for (i = 0; i < NODES; i++) {
		from = edges[order[i]];
		if (shape == MERGING)
			from[0] = any();
		else if (i + 1 < NODES && (shape != PIECES || i % 5000 != 4999))
			from[0] = order[i + 1];
		else if (shape == RING)
			from[0] = order[0];
		if (shape == BRANCHES && i % 20000 == 19999)
			from[1] = any();
	}
}

static void
reach(uint32_t from)
{
	size_t depth = 0, i;
	uint32_t to;

	root_value(nodes[from]);
	reached[from] = true;
	for (todo[depth++] = from; depth > 0;) {
		from = todo[--depth];
		for (i = 0; i < 2; i++) {
			to = edges[from][i];
			if (to == NODES || reached[to])
				continue;
			reached[to] = true;
			todo[depth++] = to;
		}
	}
}

static void
make(enum shape shape)
{
	uint32_t i, j;

	srand((unsigned)shape + 1);
	make_nodes();
	make_edges(shape);
	for (i = 0; i < NODES; i++)
		for (j = 0; j < 2; j++)
			nodes[i][j] =
			    edges[i][j] == NODES ? NULL : nodes[edges[i][j]];
	reach(order[shape == HALF || shape == RING ? NODES / 2 : 0]);
	for (i = 1; i < 4; i++)
		if (shape == PIECES || shape == MERGING)
			reach(order[i * 70000]);
	fake_heap_seal(&marking_heap);
}

/* True: chains were followed from many places. */
static bool
mark_by(unsigned count, uint64_t deadline_ns)
{
	struct mu_workers workers = pthread_workers(count);
	struct mu_marking marking;

	marking_heap.blocks.workers = &workers;
	ck_assert_int_eq(
	    mu_graph_make(&marking_graph, &marking_heap.blocks, &marking_roots,
		NULL, &marking_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	ck_assert(
	    mu_marking_open(&marking, &marking_graph, DEPTH, deadline_ns));
	mu_marking_run(&marking);
	marking_heap.blocks.workers = NULL;
	ck_assert_int_eq(marking.passed, deadline_ns == 0);
	return marking.chains.next != NULL;
}

static void
expect_reached(void)
{
	size_t i, wrong = 0;
	struct mu_block block;

	/* An assertion for each takes a minute. */
	for (i = 0; i < NODES; i++)
		wrong += !mu_blocks_find(&marking_heap.blocks,
			     (uintptr_t)nodes[i], &block) ||
		    mu_block_marked(&block) != reached[i];
	ck_assert_uint_eq(wrong, 0);
}

TEST_LOOP(shapes, 0, SHAPES)
{
	size_t c;

	make((enum shape)_i);
	for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		ck_assert_int_eq(
		    mark_by(counts[c], FAKE_NO_DEADLINE), _i != MERGING);
		expect_reached();
	}
}

/* One after the other, as long as there is no memory for more. */
TEST(without_memory)
{
	size_t n, with = 0;

	make(WHOLE);
	for (n = 1; n < 32; n++) {
		marking_heap.arena.fail_at = n;
		if (mu_graph_make(&marking_graph, &marking_heap.blocks,
			&marking_roots, NULL, &marking_heap.arena,
			FAKE_NO_DEADLINE) != MU_OK ||
		    mu_mark(&marking_graph, FAKE_NO_DEADLINE) != MU_OK)
			continue;
		expect_reached();
		with++;
	}
	marking_heap.arena.fail_at = 0;
	ck_assert_uint_gt(with, 16);
}

TEST(late)
{
	make(WHOLE);
	mark_by(2, 0);
}

SUITE(.timeout = 300, .teardown = marking_teardown);
