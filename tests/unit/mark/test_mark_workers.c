/*
 * Marking by several workers marks the same bits as by one, also with stacks of
 * a few entries and without room for words that may be old links.
 */
#include "tests/support/graph/marking.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define NODES 20000 /* 2.5 MB: as many bytes as make three workers */
#define EDGES 3

static const unsigned counts[] = { 1, 2, 4, 7 };

struct graph {
	void **nodes[NODES];
	size_t edges[NODES][EDGES]; /* NODES: none */
	bool reached[NODES];
	size_t roots[4], todo[NODES];
	uint8_t *marks; /* of the first marking */
	bool last_words;
};

static struct graph graph;

static size_t
any(size_t below)
{
	return (size_t)rand() % below;
}

/* Where a word may point that refers to node TO, but not its last word. */
static char *
inside(size_t to)
{
	return (char *)graph.nodes[to] + (any(2) == 0 ? 0 : any(8));
}

static void
make_nodes(void)
{
	size_t i;

	for (i = 0; i < NODES; i++)
		graph.nodes[i] =
		    marking_node(any(500) == 0 ? 5000 : 4 + any(24));
}

static void
make_edges(void)
{
	size_t i, j, to;

	for (i = 0; i < NODES; i++) {
		for (j = 0; j < EDGES; j++) {
			to = any(2 * NODES);
			graph.edges[i][j] = to < NODES ? to : NODES;
			if (to < NODES)
				graph.nodes[i][j] = inside(to);
		}
	}
	for (i = 0; i < 4; i++) {
		graph.roots[i] = any(NODES);
		root_value(inside(graph.roots[i]));
	}
}

static void
link_nodes(size_t from, size_t edge, size_t to, bool inner)
{
	graph.edges[from][edge] = to;
	if (to < NODES)
		graph.nodes[from][edge] =
		    inner ? inside(to) : (char *)graph.nodes[to];
}

/*
 * Lists of CUT nodes each, one behind the other, linked both ways; the first
 * and the last can be reached. From some a second one runs beside it.
 */
static void
make_lists(size_t cut, bool inner)
{
	size_t i;

	for (i = 0; i < NODES; i++) {
		link_nodes(i, 0, i % cut == cut - 1 ? NODES : i + 1, inner);
		link_nodes(i, 1, i % cut == 0 ? NODES : i - 1, inner);
		link_nodes(i, 2, any(1000) == 0 ? any(NODES) : NODES, inner);
	}
	for (i = 0; i < 4; i++) {
		graph.roots[i] = i % 2 == 0 ? 0 : NODES - 1;
		root_value(graph.nodes[graph.roots[i]]);
	}
}

static void
reach(void)
{
	size_t depth = 0, i, j, to;

	memset(graph.reached, 0, sizeof(graph.reached));
	for (i = 0; i < 4; i++)
		if (!graph.reached[graph.roots[i]]) {
			graph.reached[graph.roots[i]] = true;
			graph.todo[depth++] = graph.roots[i];
		}
	while (depth > 0) {
		i = graph.todo[--depth];
		for (j = 0; j < EDGES; j++) {
			to = graph.edges[i][j];
			if (to == NODES || graph.reached[to])
				continue;
			graph.reached[to] = true;
			graph.todo[depth++] = to;
		}
	}
}

static void
mark_by(unsigned count, size_t max_depth)
{
	struct mu_workers workers = pthread_workers(count);

	marking_heap.blocks.workers = &workers;
	marking_heap.blocks.last_words = false;
	ck_assert_int_eq(mark_bounded(max_depth), MU_OK);
	marking_heap.blocks.workers = NULL;
}

/* Against the graph that was made, by each way to look for words. */
TEST_LOOP(workers_on_random_graphs, 0, FAKE_KINDS)
{
	static const size_t depths[] = { 100000, 64, 7, 1 };
	static const struct mu_word_rule rules[] = {
		{ .tags = 0 },
		{ .tags = (uintptr_t)0xff << 56 },
		{ .unaligned = true },
	};
	size_t round, i, c;

	for (round = 0; round < 12; round++) {
		srand((unsigned)round + 1);
		marking_open_heap(_i, 16 << 20);
		make_nodes();
		make_edges();
		reach();
		marking_heap.blocks.words = rules[round % 3];
		for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
			mark_by(counts[c], depths[round % 4]);
			for (i = 0; i < NODES; i++)
				ck_assert_int_eq(
				    fake_marked(&marking_heap, graph.nodes[i]),
				    graph.reached[i]);
		}
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

/* Long ones and short ones; by one worker and beside others. */
TEST_LOOP(workers_on_lists, 0, FAKE_KINDS)
{
	static const size_t cuts[] = { NODES, 1000, 100, 2 };
	size_t round, i, c;

	for (round = 0; round < 8; round++) {
		srand((unsigned)round + 1);
		marking_open_heap(_i, 16 << 20);
		make_nodes();
		make_lists(cuts[round % 4], round >= 4);
		reach();
		for (c = 0; c < sizeof(counts) / sizeof(*counts); c += 2) {
			mark_by(counts[c], 100);
			for (i = 0; i < NODES; i++)
				ck_assert_int_eq(
				    fake_marked(&marking_heap, graph.nodes[i]),
				    graph.reached[i]);
		}
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

/* The header of the chunk behind node TO: where an old link may point. */
static void *
last_word(size_t to)
{
	size_t *size = (size_t *)graph.nodes[to] - 1;

	return (char *)graph.nodes[to] + (*size & ~(size_t)7) - 16;
}

/*
 * Words that may be old links, SHARE of 100 nodes have some: one pair by
 * itself counts, the same pair twice, as REPEATED of 100 are, is a link of
 * large chunks.
 */
static void
make_links(size_t share, size_t repeated)
{
	size_t i, at;
	void *pair[2];

	for (i = 0; i + 1 < NODES; i++) {
		if (any(100) >= share)
			continue;
		at = any(3) == 0 ? 0 : 2;
		pair[0] = last_word(any(NODES));
		pair[1] = last_word(any(NODES));
		memcpy(&graph.nodes[i][at], pair, sizeof(pair));
		if (any(100) < repeated)
			memcpy(&graph.nodes[i][2 - at], pair, sizeof(pair));
	}
}

static void
expect_same(bool first)
{
	size_t words = marking_heap.blocks.count, i;
	uint8_t *marks = malloc(words * sizeof(*marks));

	ck_assert_ptr_nonnull(marks);
	for (i = 0; i < words; i++)
		marks[i] = marking_heap.blocks.marks[i];
	if (first) {
		free(graph.marks);
		graph.marks = marks;
		graph.last_words = marking_heap.blocks.last_words;
		return;
	}
	ck_assert_int_eq(graph.last_words, marking_heap.blocks.last_words);
	ck_assert_mem_eq(graph.marks, marks, words * sizeof(*marks));
	free(marks);
}

/*
 * Few words to be checked, many, and more than any worker has room for; some
 * rounds end with all of them taken for the program's own.
 */
TEST(workers_on_possible_links)
{
	static const size_t shares[] = { 1, 10, 50, 100 };
	size_t round, c, all = 0, rounds = 16;

	for (round = 0; round < rounds; round++) {
		srand((unsigned)round + 1);
		marking_open_heap(FAKE_SPAN, 16 << 20);
		make_nodes();
		make_edges();
		make_links(shares[round % 4], round % 8 < 4 ? 98 : 25);
		for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
			mark_by(counts[c], round % 3 == 0 ? 3 : 100000);
			expect_same(c == 0);
		}
		all += graph.last_words;
		fake_heap_close(&marking_heap);
	}
	ck_assert_uint_gt(all, 0);
	ck_assert_uint_lt(all, rounds);
	free(graph.marks);
	graph.marks = NULL;
	marking_open_heap(FAKE_SPAN, 4096);
}

/* One long table is shared out, as are the blocks that it leads to. */
TEST_LOOP(workers_on_a_wide_table, 0, FAKE_KINDS)
{
	size_t i, c;
	void **table;

	marking_open_heap(_i, 16 << 20);
	table = marking_node(NODES);
	make_nodes();
	for (i = 0; i < NODES; i++)
		table[i] = inside(i);
	marking_node(1);
	root_value(table);
	for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		mark_by(counts[c], 100);
		expect_leaks(1, fake_usable(&marking_heap, W));
	}
}

/* A deadline ends all of them, wherever they are. */
TEST(workers_late)
{
	struct mu_workers workers = pthread_workers(4);

	marking_open_heap(FAKE_SPAN, 16 << 20);
	make_nodes();
	make_edges();
	fake_heap_seal(&marking_heap);
	marking_heap.blocks.workers = &workers;
	ck_assert_int_eq(mark_with(NULL, 0, 100), MU_ERR_TIMEOUT);
}

SUITE(.timeout = 300, .teardown = marking_teardown);
