/*
 * The graph has the same edges with room for all, for some and for none of
 * them, and without the CPU's vector and bit instructions, and gives the same
 * answer with any number of workers.
 */
#include "heapwalk/graph/lost.h"
#include "heapwalk/heaps/spans.h"
#include "tests/support/graph/folding.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define PART MU_GRAPH_LARGE /* of a large block, as it is read */
#define NODES 3000
#define PAGE ((size_t)4096)

static struct mu_graph graph;
static struct mu_lost lost;
static struct mu_memory *memory;
static void **blocks[NODES];
static unsigned char ways[4][NODES + 2][NODES + 2];

/* ROOM: bytes that the edges may take. */
static void
make_lost(size_t room)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	size_t limit = folding_heap.arena.limit;

	if (!folding_heap.blocks.sealed)
		fake_heap_seal(&folding_heap);
	folding_heap.arena.limit = folding_heap.arena.used + room;
	ck_assert_int_eq(mu_graph_make(&graph, &folding_heap.blocks, NULL,
			     memory, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	folding_heap.arena.limit = limit;
	ck_assert_int_eq(mu_lost_open(&lost, &graph, &deadline), MU_OK);
}

/* Edges of what is at PLACE; those found are counted in SEEN. */
static size_t
count_edges(uint32_t place, unsigned char *seen)
{
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	uint32_t folding_node = mu_lost_at(&lost, place);
	struct mu_edges edges;
	uint32_t target;
	size_t count = 0;

	if (folding_node == MU_NO_NODE)
		return 0; /* it is alone */
	mu_edges_open(&edges, &lost, folding_node,
	    mu_edges_first(&lost, folding_node), &deadline);
	for (; mu_edges_next(&edges, &target); count++) {
		ck_assert_uint_lt(target, lost.num_nodes);
		place = mu_lost_place(&lost, target);
		if (target >= lost.num_blocks)
			count += count_edges(place, seen) - 1;
		else if (seen != NULL)
			seen[place] = 1;
	}
	if (mu_edges_none(&lost, folding_node))
		ck_assert_uint_eq(count, 0);
	return count;
}

/* Nodes of 0 to 40 edges, one of a chunk and more, one of several parts. */
static void
make_graph(void)
{
	void **wide, **large;
	size_t i, j, to, size[NODES], words = 3 * PART / W;

	srand(1);
	folding_open_heap(FAKE_SPAN, 16 << 20);
	for (i = 0; i < NODES; i++)
		blocks[i] = folding_node(size[i] = 3 + (size_t)rand() % 38);
	wide = folding_node(PART / W - 2);
	large = folding_node(words);
	for (i = 1; i < NODES; i++) {
		for (j = 0; j < size[i] && rand() % 4 != 0; j++) {
			to = (size_t)rand() % (rand() % 9 ? i : NODES / 2);
			blocks[i][j] = (char *)blocks[to] + rand() % 24;
		}
	}
	for (i = 0; i < PART / W - 2; i++)
		wide[i] = blocks[(i * 7) % (NODES / 2)];
	for (i = 0; i < words; i += 1 + (size_t)rand() % 5)
		large[i] = blocks[(size_t)rand() % (NODES / 2)];
	large[words / 2] = wide;
	blocks[NODES - 1][0] = large;
}

/* Every edge is there whichever way, and none besides. */
static void
expect_same_edges(unsigned count)
{
	static const size_t rooms[] = { (size_t)1 << 30, (size_t)1100 << 10,
		(size_t)512 << 10, (size_t)1 << 30 };
	struct mu_workers workers = pthread_workers(count);
	uint32_t folding_node;
	size_t way;

	folding_heap.blocks.workers = &workers;
	memset(ways, 0, sizeof(ways));
	for (way = 0; way < 4; way++) {
		folding_heap.blocks.filter =
		    way == 3 ? mu_words_version(0) : NULL;
		make_lost(rooms[way]);
		ck_assert_uint_eq(lost.num_blocks + lost.num_alone, NODES + 2);
		ck_assert_int_eq(graph.reads, way == 1 || way == 2);
		ck_assert_int_eq(graph.cells == NULL, way == 2);
		for (folding_node = 0; folding_node < NODES + 2;
		     folding_node++) {
			count_edges(folding_node, ways[way][folding_node]);
			ways[way][folding_node][folding_node] = 0;
		}
	}
	ck_assert_mem_eq(ways[0], ways[1], sizeof(ways[0]));
	ck_assert_mem_eq(ways[0], ways[2], sizeof(ways[0]));
	ck_assert_mem_eq(ways[0], ways[3], sizeof(ways[0]));
	folding_heap.blocks.workers = NULL;
}

/* Every third block is free: what is left in it belongs to none before it. */
TEST(words_between_blocks)
{
	struct mu_span *span;
	size_t i, words, live = 0;
	uint32_t number;

	folding_open_heap(FAKE_SPAN, 1 << 20);
	for (i = 0; i < NODES / 10; i++)
		blocks[i] = folding_node(3 + i % 9);
	span = &folding_heap.blocks.spans[0];
	for (i = 0; i + 3 < NODES / 10; i++) {
		blocks[i][1] = blocks[3 - i % 3 + i]; /* not free */
		words = fake_usable(&folding_heap, (3 + i % 9) * W) / W;
		blocks[i][words] = blocks[0]; /* where malloc has a size */
		live += i % 3 != 1;
		if (i % 3 == 1) {
			blocks[i][1] = blocks[2];
			mu_span_clear(span, (uintptr_t)blocks[i]);
		}
	}
	make_lost((size_t)1 << 30);
	for (number = 0; number < live; number++)
		ck_assert_uint_eq(count_edges(number, NULL), 1);
}

TEST_LOOP(same_edges, 1, 5)
{
	make_graph();
	expect_same_edges((unsigned)_i);
}

/* Some blocks have code, also the large ones: a word begins at any byte. */
TEST_LOOP(same_edges_of_code, 1, 5)
{
	struct mu_range code;
	size_t i;

	make_graph();
	for (i = NODES / 2; i < NODES - 1; i++)
		memcpy((char *)blocks[i] + 5, &blocks[i - NODES / 2], W);
	code.begin = (uintptr_t)blocks[2 * NODES / 3];
	code.end = (uintptr_t)folding_heap.pool + folding_heap.size;
	folding_heap.blocks.code = &code;
	folding_heap.blocks.num_code = 1;
	expect_same_edges((unsigned)_i);
	for (i = 2 * NODES / 3; i < NODES - 1; i++)
		ck_assert(ways[0][i][i - NODES / 2]);
}

/* Blocks that lie across pieces which workers take one by one. */
TEST_LOOP(across_pieces, 1, 5)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	size_t i, words = 4000, count = 200;
	static unsigned char seen[256];
	void **nodes[200];

	folding_open_heap(FAKE_SPAN, 16 << 20);
	for (i = 0; i < count; i++)
		nodes[i] = folding_node(words);
	for (i = 0; i < count; i++) {
		nodes[i][0] = nodes[(i + 1) % count];
		nodes[i][words / 2] = nodes[(i + 2) % count];
		nodes[i][words - 1] = nodes[(i + 3) % count];
	}
	folding_heap.blocks.workers = &workers;
	make_lost((size_t)1 << 30);
	for (i = 0; i < count; i++) {
		memset(seen, 0, sizeof(seen));
		ck_assert_uint_eq(count_edges((uint32_t)i, seen), 3);
		ck_assert(seen[(i + 1) % count] && seen[(i + 2) % count] &&
		    seen[(i + 3) % count]);
	}
}

/* Room for all edges, for some, for none: the answer is the same. */
TEST_LOOP(same_answer, 1, 5)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	size_t limit = 0, used, count, n, whole = 0;
	struct mu_leak *first;

	make_graph();
	folding_heap.blocks.workers = NULL;
	fake_heap_seal(&folding_heap);
	fold();
	first = folding_entries;
	folding_entries = NULL;
	count = folding_leaks.entries.count;
	ck_assert_uint_gt(count, 10);
	folding_heap.blocks.workers = &workers;
	for (n = 0; n < 16; n++) {
		used = folding_heap.arena.used;
		folding_heap.arena.limit = used + limit;
		limit += (size_t)256 << 10;
		if (n == 0 || fold_until(SIZE_MAX, FAKE_NO_DEADLINE) != MU_OK)
			continue;
		whole++;
		ck_assert_uint_eq(folding_leaks.entries.count, count);
		ck_assert_mem_eq(
		    folding_entries, first, count * sizeof(*first));
	}
	ck_assert_uint_ge(whole, 10);
	folding_heap.arena.limit = (size_t)8 << 30;
	fold();
	ck_assert_mem_eq(folding_entries, first, count * sizeof(*first));
	free(first);
}

/* What is given back is not counted. */
TEST(little_is_kept)
{
	size_t i, before;

	folding_open_heap(FAKE_SPAN, 16 << 20);
	for (i = 0; i < 1000; i++)
		folding_node(1000);
	fake_heap_seal(&folding_heap);
	before = folding_heap.arena.used;
	make_lost((size_t)1 << 30);
	ck_assert(!graph.reads);
	ck_assert_uint_le(folding_heap.arena.used - before, (size_t)2 << 20);
}

/* A word that lies across two parts. */
TEST_LOOP(across_parts, 1, 3)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	size_t shift;
	char *large;
	void *a;

	for (shift = 1; shift < W; shift++) {
		folding_open_heap(FAKE_SPAN, 4 << 20);
		a = folding_node(1);
		large = (char *)folding_node(3 * PART / W);
		memcpy(large + 2 * PART - shift, &a, W);
		folding_heap.blocks.words.unaligned = true;
		folding_heap.blocks.workers = &workers;
		make_lost((size_t)1 << 30);
		ck_assert_uint_eq(count_edges(1, NULL), 1);
		ck_assert_uint_eq(count_edges(0, NULL), 0);
		folding_teardown();
	}
	folding_open_heap(FAKE_SPAN, 4096);
}

/*
 * What looks like a pair of old links, but points at the end of a span: no
 * chunk begins there.
 */
TEST(end_of_span)
{
	void **a;

	folding_open_heap(FAKE_SPAN, 4096);
	a = folding_node(5);
	folding_node(1);
	/* Its end is the end of the span. */
	mu_span_unset(
	    &folding_heap.blocks.spans[0], folding_heap.used / MU_GRAIN + 1);
	a[0] = a[2] = folding_heap.pool + folding_heap.size - W;
	a[1] = a[3] = a - 2;
	make_lost((size_t)1 << 30);
	ck_assert_uint_eq(count_edges(0, NULL), 1);
	make_lost((size_t)128 << 10);
	ck_assert_ptr_null(graph.cells);
	ck_assert_uint_eq(count_edges(0, NULL), 2);
}

/* A block in the first MiB of the address space. */
TEST(low_address)
{
	static void *low[2];
	struct mu_range range = { 0x20000, 0x20000 + sizeof(low) };
	void **a;

	folding_open_heap(FAKE_LISTED, 4096);
	a = folding_node(1);
	a[0] = (void *)range.begin;
	ck_assert_int_eq(mu_blocks_add(&folding_heap.blocks, range,
			     (const char *)low, false),
	    MU_OK);
	make_lost((size_t)1 << 30);
	ck_assert_uint_eq(count_edges(1, NULL), 1);
}

static struct mu_range written;

static bool
populated(struct mu_memory *asked, struct mu_range range, struct mu_range *part)
{
	(void)asked;
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
TEST(unwritten)
{
	struct mu_memory sparse = { .ops = &ops };
	size_t size = 16 << 20, at = 5 << 20;
	struct mu_range range;
	char *large;
	void **a;

	folding_open_heap(FAKE_LISTED, 4096);
	a = folding_node(1);
	large = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(large, MAP_FAILED);
	ck_assert_int_eq(mprotect(large + at, PAGE, PROT_READ | PROT_WRITE), 0);
	*(void **)(large + at + 64) = a;
	range = (struct mu_range) { (uintptr_t)large, (uintptr_t)large + size };
	written.begin = (uintptr_t)large + at;
	written.end = written.begin + PAGE;
	ck_assert_int_eq(
	    mu_blocks_add(&folding_heap.blocks, range, large, false), MU_OK);
	memory = &sparse;
	make_lost((size_t)1 << 30);
	ck_assert_uint_eq(count_edges(0, NULL) + count_edges(1, NULL), 1);
	make_lost((size_t)256 << 10);
	ck_assert_ptr_null(graph.cells);
	ck_assert_uint_eq(count_edges(0, NULL) + count_edges(1, NULL), 1);
	memory = NULL;
	munmap(large, size);
}

TEST(late)
{
	make_graph();
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&graph, &folding_heap.blocks, NULL, NULL,
			     &folding_heap.arena, 0),
	    MU_ERR_TIMEOUT);
}

static void
count_call(void *ctx)
{
	++*(size_t *)ctx;
}

/* A single worker looks what else there is once in 256 KiB of the heap. */
TEST(between_units)
{
	size_t i, calls = 0, blocks_size = (size_t)1000 * 1000 * W;
	struct mu_workers workers = { .between = count_call, .ctx = &calls };

	folding_open_heap(FAKE_SPAN, 16 << 20);
	for (i = 0; i < 1000; i++)
		folding_node(1000);
	folding_heap.blocks.workers = &workers;
	make_lost((size_t)1 << 30);
	folding_heap.blocks.workers = NULL;
	ck_assert_uint_ge(calls, blocks_size / ((size_t)256 << 10));
}

/* Whatever allocation fails: the same edges, or no memory. */
TEST_LOOP(no_memory, 0, FAKE_KINDS)
{
	size_t n, edges, made = 0;

	folding_open_heap(_i, 1 << 20);
	for (n = 0; n < 100; n++)
		*folding_node(1) = folding_heap.pool + folding_heap.used / 2;
	fake_heap_seal(&folding_heap);
	make_lost((size_t)1 << 30);
	edges = count_edges(99, NULL);
	for (n = 1; n < 10; n++) {
		folding_heap.arena.fail_at = n;
		if (mu_graph_make(&graph, &folding_heap.blocks, NULL, NULL,
			&folding_heap.arena, FAKE_NO_DEADLINE) != MU_OK)
			continue;
		made++;
		folding_heap.arena.fail_at = 0;
		make_lost((size_t)1 << 30);
		ck_assert_uint_eq(count_edges(99, NULL), edges);
	}
	folding_heap.arena.fail_at = 0;
	ck_assert_uint_ge(made, 4);
}

/* Every seventh span has several units of work, one page a block. */
static size_t
add_spans(struct mu_blocks *spans, char *pool, size_t count)
{
	size_t i, page, pages, num_pages = 0;
	struct mu_span *span;
	char *at;

	for (i = 0; i < count; i++, num_pages += pages + 1) {
		pages = i % 7 == 0 ? 150 : 1;
		at = pool + num_pages * PAGE;
		span = mu_blocks_add_span(spans,
		    (struct mu_range) {
			(uintptr_t)at, (uintptr_t)at + pages * PAGE },
		    at);
		ck_assert_ptr_nonnull(span);
		for (page = 0; page < pages; page++) {
			mu_span_begin(span, page * PAGE / MU_GRAIN, 1, 0);
			mu_span_begin(span, page * PAGE / MU_GRAIN + 4, 0, 0);
		}
		span->count = pages;
	}
	return num_pages;
}

/* As of many arenas: each unit belongs to the right span. */
TEST_LOOP(many_spans, 1, 5)
{
	enum { SPANS = 1000 };
	size_t size = SPANS * 24 * PAGE, i, count;
	char *pool = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct mu_workers workers = pthread_workers((unsigned)_i);
	struct mu_block block, to;
	struct mu_blocks spans;
	struct mu_arena arena;

	ck_assert_ptr_ne(pool, MAP_FAILED);
	mu_arena_open(&arena, (size_t)64 << 20);
	mu_blocks_open(&spans, &arena);
	ck_assert_uint_le(add_spans(&spans, pool, SPANS) * PAGE, size);
	ck_assert_int_eq(mu_blocks_seal(&spans, NULL), MU_OK);
	count = mu_blocks_number(&spans);
	for (i = 0; i < count; i++) {
		ck_assert(mu_blocks_at(&spans, (uint32_t)i, &block));
		ck_assert(mu_blocks_at(
		    &spans, (uint32_t)((i * 7919 + 1) % count), &to));
		*(uintptr_t *)block.range.begin = to.range.begin;
	}
	spans.bytes = 4 << 20; /* enough for all workers */
	spans.workers = &workers;
	ck_assert_int_eq(
	    mu_graph_make(&graph, &spans, NULL, NULL, &arena, FAKE_NO_DEADLINE),
	    MU_OK);
	for (i = 0; i < count; i++)
		if ((i * 7919 + 1) % count != i)
			ck_assert_uint_eq(graph.cells[i],
			    MU_CELL_ONE | (i * 7919 + 1) % count);
	mu_arena_close(&arena);
	munmap(pool, size);
}

/* What only reachable blocks need is given back: their cells. */
TEST(cells_of_the_lost)
{
	enum { LIVE = 200000, LOST = 1000 };
	struct mu_deadline deadline = { .ns = FAKE_NO_DEADLINE };
	uint32_t number, most = 64 << 10; /* bytes of a page, at most */
	void **last = NULL, **next;

	folding_open_heap(FAKE_SPAN, (size_t)8 << 20);
	for (number = 0; number < LIVE + LOST; number++, last = next) {
		next = folding_node(1);
		next[0] = last;
	}
	fake_heap_seal(&folding_heap);
	ck_assert_int_eq(mu_graph_make(&graph, &folding_heap.blocks, NULL, NULL,
			     &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	for (number = 0; number < LIVE; number++)
		mu_blocks_mark(&folding_heap.blocks, number);
	ck_assert_int_eq(mu_lost_open(&lost, &graph, &deadline), MU_OK);
	ck_assert_uint_eq(lost.num_nodes, LOST);
	for (number = 1; number < LOST; number++)
		ck_assert_uint_eq(count_edges(number, NULL), 1);
	for (number = LOST + most / 4; number < LIVE - most / 4; number++)
		ck_assert_uint_eq(graph.cells[number], 0);
}

SUITE(.teardown = folding_teardown);
