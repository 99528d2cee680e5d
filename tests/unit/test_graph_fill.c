/*
 * Edges of unreachable blocks, stored and read: folding comes out the same with
 * both, and at any number of workers.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/edges.h"
#include "tests/support/folding.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define PART ((size_t)256 << 10) /* of a large block, as it is read */
#define NODES 3000
#define PAGE ((size_t)4096)

static struct mu_graph graph;

static void
fill(size_t max_bytes, struct mu_memory *memory)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };

	if (!heap.blocks.sealed)
		fake_heap_seal(&heap);
	ck_assert(mu_graph_open(&graph, &heap.blocks, &heap.arena));
	ck_assert(
	    mu_graph_fill(&graph, max_bytes, memory, &heap.arena, &deadline));
}

/* Edges of NODE; those found are counted in SEEN. */
static size_t
count_edges(uint32_t node, unsigned char *seen)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	struct mu_edges edges;
	uint32_t target;
	size_t count = 0;

	mu_edges_open(
	    &edges, &graph, node, mu_edges_first(&graph, node), &deadline);
	for (; mu_edges_next(&edges, &graph, &target); count++) {
		ck_assert_uint_lt(target, graph.num_nodes);
		if (seen != NULL)
			seen[target] = 1;
	}
	ck_assert_uint_eq(
	    mu_edges_none(&graph, node), mu_edges_stored(&graph) && count == 0);
	return count;
}

/* Nodes of 0 to 40 edges, one of a chunk and more, one of several parts. */
static void
make_graph(void)
{
	void **nodes[NODES], **wide, **large;
	size_t i, j, to, size[NODES], words = 3 * PART / W;

	srand(1);
	open_heap(FAKE_SPAN, 16 << 20);
	for (i = 0; i < NODES; i++)
		nodes[i] = node(size[i] = 3 + (size_t)rand() % 38);
	wide = node(PART / W - 2);
	large = node(words);
	for (i = 1; i < NODES; i++) {
		for (j = 0; j < size[i] && rand() % 4 != 0; j++) {
			to = (size_t)rand() % (rand() % 9 ? i : NODES / 2);
			nodes[i][j] = (char *)nodes[to] + rand() % 24;
		}
	}
	for (i = 0; i < PART / W - 2; i++)
		wide[i] = nodes[(i * 7) % (NODES / 2)];
	for (i = 0; i < words; i += 1 + (size_t)rand() % 5)
		large[i] = nodes[(size_t)rand() % (NODES / 2)];
	large[words / 2] = wide;
	nodes[NODES - 1][0] = large;
}

/* Every edge is there whichever way, and none besides. */
START_TEST(same_edges)
{
	static unsigned char stored[NODES + 2], seen[NODES + 2];
	struct mu_workers workers = pthread_workers((unsigned)_i);
	struct mu_graph with;
	uint32_t node;

	make_graph();
	heap.blocks.workers = &workers;
	fill(SIZE_MAX, NULL);
	ck_assert(mu_edges_stored(&graph));
	with = graph;
	fill(0, NULL);
	ck_assert(!mu_edges_stored(&graph));
	ck_assert_uint_eq(graph.num_nodes, NODES + 2);
	ck_assert_uint_eq(with.num_nodes, NODES + 2);
	ck_assert_uint_eq(with.bytes, graph.bytes);
	ck_assert_mem_eq(
	    with.begins, graph.begins, (NODES + 2) * sizeof(*graph.begins));
	ck_assert_mem_eq(
	    with.sizes, graph.sizes, (NODES + 2) * sizeof(*graph.sizes));
	for (node = 0; node < NODES + 2; node++) {
		memset(seen, 0, sizeof(seen));
		memset(stored, 0, sizeof(stored));
		fill(0, NULL);
		count_edges(node, seen);
		graph = with;
		count_edges(node, stored);
		seen[node] = stored[node] = 0;
		ck_assert_mem_eq(seen, stored, sizeof(seen));
		if (node % 100 != 0 && node < NODES)
			node += 98;
	}
}
END_TEST

/* Room for all edges, for some, for none: the answer is the same. */
START_TEST(same_answer)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	size_t limit = 0, used, count, n;
	struct mu_leak *entries;

	make_graph();
	heap.blocks.workers = NULL;
	fake_heap_seal(&heap);
	fold();
	entries = leaks.entries;
	count = leaks.num_entries;
	ck_assert_uint_gt(count, 10);
	heap.blocks.workers = &workers;
	for (n = 0; n < 12; n++) {
		used = heap.arena.used;
		heap.arena.limit = used + limit;
		limit += (size_t)256 << 10;
		if (fold_until(SIZE_MAX, FAKE_NO_DEADLINE) != MU_OK)
			continue;
		ck_assert_uint_eq(leaks.num_entries, count);
		ck_assert_mem_eq(
		    leaks.entries, entries, count * sizeof(*entries));
	}
	fold();
	ck_assert_mem_eq(leaks.entries, entries, count * sizeof(*entries));
}
END_TEST

/* What is given back is not counted. */
START_TEST(little_is_kept)
{
	size_t i, before;

	open_heap(FAKE_SPAN, 16 << 20);
	for (i = 0; i < 1000; i++)
		node(1000);
	fake_heap_seal(&heap);
	before = heap.arena.used;
	fill(SIZE_MAX, NULL);
	ck_assert(mu_edges_stored(&graph));
	ck_assert_uint_le(heap.arena.used - before, (size_t)1 << 20);
}
END_TEST

/* A word that lies across two parts. */
START_TEST(across_parts)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	char *large;
	void *a;

	open_heap(FAKE_SPAN, 4 << 20);
	a = node(1);
	large = (char *)node(3 * PART / W);
	memcpy(large + 2 * PART - 3, &a, W);
	heap.blocks.words.unaligned = true;
	heap.blocks.workers = &workers;
	fill(SIZE_MAX, NULL);
	ck_assert_uint_eq(count_edges(1, NULL), 1);
	ck_assert_uint_eq(count_edges(0, NULL), 0);
}
END_TEST

static struct mu_range written;

static bool
populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	(void)memory;
	*part = written;
	if (part->begin < range.begin)
		part->begin = range.begin;
	if (part->end > range.end)
		part->end = range.end;
	return part->begin < part->end;
}

static const struct mu_memory_ops ops = { .name = "fake",
	.populated = populated };

/* What was never written of a large block faults if it is read after all. */
START_TEST(unwritten)
{
	struct mu_memory memory = { .ops = &ops };
	size_t size = 16 << 20, at = 5 << 20;
	struct mu_range range;
	char *large;
	void **a;

	open_heap(FAKE_LISTED, 4096);
	a = node(1);
	large = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(large, MAP_FAILED);
	ck_assert_int_eq(mprotect(large + at, PAGE, PROT_READ | PROT_WRITE), 0);
	*(void **)(large + at + 64) = a;
	range = (struct mu_range) { (uintptr_t)large, (uintptr_t)large + size };
	written.begin = (uintptr_t)large + at;
	written.end = written.begin + PAGE;
	ck_assert_int_eq(
	    mu_blocks_add(&heap.blocks, range, large, false), MU_OK);
	fill(SIZE_MAX, &memory);
	ck_assert_uint_eq(count_edges(0, NULL) + count_edges(1, NULL), 1);
	munmap(large, size);
}
END_TEST

START_TEST(late)
{
	struct mu_deadline deadline = { .ns = 0 };

	make_graph();
	fake_heap_seal(&heap);
	ck_assert(mu_graph_open(&graph, &heap.blocks, &heap.arena));
	ck_assert(
	    !mu_graph_fill(&graph, SIZE_MAX, NULL, &heap.arena, &deadline));
	ck_assert(deadline.passed);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("graph_fill");
	TCase *tc = tcase_create("graph_fill");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, same_edges, 1, 5);
	tcase_add_loop_test(tc, same_answer, 1, 5);
	tcase_add_test(tc, little_is_kept);
	tcase_add_loop_test(tc, across_parts, 1, 3);
	tcase_add_test(tc, unwritten);
	tcase_add_test(tc, late);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
