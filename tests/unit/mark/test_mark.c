/*
 * Marking: the cases of Android's HeapWalker test, and roots of every kind.
 * Each runs with listed blocks and with chunks.
 */
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define PAGE ((size_t)4096)

TEST_LOOP(leak, 0, FAKE_KINDS)
{
	char *slots[2], *a;
	size_t size;

	marking_open_heap(_i, 4096);
	a = fake_block(&marking_heap, 16, false);
	size = fake_usable(&marking_heap, 16);
	slots[0] = a - 1;
	slots[1] = a + size;
	root_range(slots, slots + 2);
	mark();
	expect_leaks(1, size);
}

TEST_LOOP(live, 0, FAKE_KINDS)
{
	char *slots[4], *a;
	size_t i, offset;

	for (i = 0; i < 4; i++) {
		for (offset = 0; offset < 16; offset++) {
			marking_open_heap(_i, 4096);
			a = fake_block(&marking_heap, 16, false);
			memset(slots, 0, sizeof(slots));
			slots[i] = a + offset;
			root_range(slots, slots + 4);
			mark();
			expect_leaks(0, 0);
			fake_heap_close(&marking_heap);
		}
	}
	marking_open_heap(_i, 4096);
}

/* The slot is whole in the range, however the range's ends lie. */
TEST_LOOP(unaligned, 0, FAKE_KINDS)
{
	char *slots[3] = { NULL }, *a;
	size_t i, j;

	for (i = 0; i < W; i++) {
		for (j = 0; j < W; j++) {
			marking_open_heap(_i, 4096);
			a = fake_block(&marking_heap, 16, false);
			slots[1] = a;
			root_range((char *)slots + i, (char *)(slots + 3) - j);
			mark();
			expect_leaks(0, 0);
			fake_heap_close(&marking_heap);
		}
	}
	marking_open_heap(_i, 4096);
}

TEST_LOOP(cycle, 0, FAKE_KINDS)
{
	void **a, **b;

	marking_open_heap(_i, 4096);
	a = marking_node(1);
	b = marking_node(1);
	a[0] = b;
	b[0] = a;
	mark();
	expect_leaks(2, 2 * fake_usable(&marking_heap, W));
}

/* A word that is not whole in the range is not read. */
TEST_LOOP(cut_word, 0, FAKE_KINDS)
{
	size_t cut;
	char *pages, **slot;

	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	slot = (char **)(pages + PAGE) - 1;
	for (cut = 1; cut < W; cut++) {
		marking_open_heap(_i, 4096);
		*slot = fake_block(&marking_heap, 16, false);
		root_range((char *)slot + cut, slot + 1);
		root_range(slot, (char *)(slot + 1) - cut);
		mark();
		expect_leaks(1, fake_usable(&marking_heap, 16));
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
	*slot = fake_block(&marking_heap, 16, false);
	root_range(slot, slot + 1);
	mark();
	expect_leaks(0, 0);
}

TEST_LOOP(overlapping_roots, 0, FAKE_KINDS)
{
	void *slots[4] = { NULL }, **a, **b;

	marking_open_heap(_i, 4096);
	a = marking_node(1);
	b = marking_node(1);
	slots[0] = a;
	slots[2] = b;
	root_range(slots, slots + 2);
	root_range(slots, slots + 4);
	root_range(slots + 1, slots + 4);
	root_range(slots + 3, slots + 3);
	mark();
	expect_leaks(0, 0);
}

TEST_LOOP(root_values, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	marking_open_heap(_i, 4096);
	a = marking_node(1);
	b = marking_node(6);
	c = marking_node(1);
	a[0] = (char *)b + 33;
	marking_node(2);
	root_value(NULL);
	root_value((char *)a + 7);
	root_value((void *)UINTPTR_MAX);
	mark();
	ck_assert(fake_marked(&marking_heap, a));
	ck_assert(fake_marked(&marking_heap, b));
	ck_assert(!fake_marked(&marking_heap, c));
}

/* All of a block is scanned, to its last usable word. */
TEST_LOOP(whole_block, 0, FAKE_KINDS)
{
	size_t usable;
	void **a, **b;

	marking_open_heap(_i, 1 << 20);
	a = marking_node(9000);
	b = marking_node(1);
	usable = fake_usable(&marking_heap, 9000 * W);
	a[usable / W - 1] = b;
	root_value(a);
	mark();
	expect_leaks(0, 0);
}

TEST(kept_blocks)
{
	void **kept, **a, **lost;

	marking_open_heap(FAKE_LISTED, 4096);
	kept = fake_block(&marking_heap, 2 * W, true);
	a = marking_node(1);
	lost = marking_node(1);
	kept[1] = a;
	lost[0] = kept;
	mark();
	expect_leaks(1, W);
	ck_assert(!fake_marked(&marking_heap, lost));
}

TEST_LOOP(late, 0, FAKE_KINDS)
{
	marking_open_heap(_i, 1 << 20);
	root_value(marking_node(1));
	fake_heap_seal(&marking_heap);
	ck_assert_int_eq(mark_with(NULL, 0, 100), MU_ERR_TIMEOUT);
}

TEST_LOOP(no_memory, 0, FAKE_KINDS)
{
	size_t n, with = 0, without = 0;

	marking_heap.arena.fail_at = 0;
	/* Edges can be done without, but they are of no use if marks are. */
	for (n = 1; marking_heap.arena.fail_at == 0; n++) {
		marking_open_heap(_i, 1 << 20);
		root_value(marking_node(1));
		fake_heap_seal(&marking_heap);
		marking_heap.arena.fail_at = n;
		if (mark_bounded(1) == MU_OK) {
			with++;
			expect_leaks(0, 0);
		} else if (marking_heap.arena.fail_at == 0) {
			without++;
		}
		if (marking_heap.arena.fail_at == 0)
			fake_heap_close(&marking_heap);
	}
	ck_assert_uint_ge(with, 2);
	ck_assert_uint_ge(without, 3);
}

/* No room for edges, some of which may be old links: they are read. */
TEST(no_memory_for_links)
{
	size_t i, count = 40000;
	void **all, **one;

	marking_open_heap(FAKE_SPAN, 200 * count);
	all = marking_node(count);
	root_value(all);
	for (i = 0; i < count; i++) {
		one = marking_node(3);
		all[i] = (char *)one + fake_usable(&marking_heap, 3 * W) - W;
	}
	marking_node(1);
	fake_heap_seal(&marking_heap);
	marking_heap.arena.limit =
	    marking_heap.arena.used + ((size_t)256 << 10);
	ck_assert_int_eq(mark_bounded(100), MU_OK);
	ck_assert(marking_graph.reads);
	expect_leaks(1, fake_usable(&marking_heap, W));
}

/* A stack that does not fit becomes a shorter one. */
TEST_LOOP(less_memory_for_the_stack, 0, FAKE_KINDS)
{
	size_t i, count = 20000;
	void **all;

	marking_open_heap(_i, 200 * count);
	all = marking_node(count);
	root_value(all);
	for (i = 0; i < count; i++)
		all[i] = marking_node(1);
	marking_node(2);
	fake_heap_seal(&marking_heap);
	marking_heap.arena.limit =
	    marking_heap.arena.used + ((size_t)256 << 10);
	ck_assert_int_eq(mark_bounded((size_t)1 << 22), MU_OK);
	expect_leaks(1, fake_usable(&marking_heap, 2 * W));
	ck_assert_uint_eq(marking_heap.arena.refused, 0);
}

/* Marking reads only the populated parts of large ranges. */
#define LARGE ((size_t)4 << 20)
#define PAGE ((size_t)4096)

/* Memory of which only two parts are populated. */
static struct mu_range parts[2];
static size_t num_asked;

static bool
populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	size_t i;

	(void)memory;
	num_asked++;
	for (i = 0; i < 2; i++) {
		if (parts[i].begin >= range.end || parts[i].end <= range.begin)
			continue;
		*part = parts[i];
		if (part->begin < range.begin)
			part->begin = range.begin;
		if (part->end > range.end)
			part->end = range.end;
		return true;
	}
	return false;
}

static const struct mu_memory_ops ops = { .name = "fake",
	.populated = populated };

/* What is not populated faults if it is read after all. */
static char *
map_sparse(size_t first, size_t second)
{
	char *map =
	    mmap(NULL, LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(
	    mprotect(map + first, PAGE, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(
	    mprotect(map + second, PAGE, PROT_READ | PROT_WRITE), 0);
	parts[0] = (struct mu_range) { (uintptr_t)map + first,
		(uintptr_t)map + first + PAGE };
	parts[1] = (struct mu_range) { (uintptr_t)map + second,
		(uintptr_t)map + second + PAGE };
	num_asked = 0;
	return map;
}

TEST_LOOP(large_ranges, 0, FAKE_KINDS)
{
	struct mu_memory memory = { .ops = &ops };
	size_t second = 3 * PAGE;
	void **a, **b;
	char *map;

	marking_open_heap(_i, 4096);
	a = marking_node(1);
	b = marking_node(1);
	marking_node(1);
	map = map_sparse(PAGE, second);
	*(void **)(map + PAGE) = a;
	*(void **)(map + second + PAGE - W) = b;
	root_range(map + 3, map + LARGE - 3);
	fake_heap_seal(&marking_heap);
	ck_assert_int_eq(mark_with(&memory, FAKE_NO_DEADLINE, 100), MU_OK);
	ck_assert_uint_eq(num_asked, 3);
	ck_assert(fake_marked(&marking_heap, a));
	ck_assert(fake_marked(&marking_heap, b));
	expect_leaks(1, fake_usable(&marking_heap, W));
}

TEST(large_blocks)
{
	struct mu_memory memory = { .ops = &ops };
	struct mu_range range;
	void **a;
	char *map;

	marking_open_heap(FAKE_LISTED, 4096);
	a = marking_node(1);
	map = map_sparse(0, LARGE / 2);
	*(void **)(map + LARGE / 2) = a;
	range = (struct mu_range) { (uintptr_t)map, (uintptr_t)map + LARGE };
	ck_assert_int_eq(
	    mu_blocks_add(&marking_heap.blocks, range, map, false), MU_OK);
	root_value(map + LARGE - 1);
	fake_heap_seal(&marking_heap);
	ck_assert_int_eq(mark_with(&memory, FAKE_NO_DEADLINE, 100), MU_OK);
	expect_leaks(0, 0);
}

/*
 * Marking random graphs, compared with a recursive model; half of the rounds
 * with a stack of a few entries.
 */
#define MAX_MODEL 300

struct model {
	size_t count, words[MAX_MODEL];
	void **nodes[MAX_MODEL];
	bool reached[MAX_MODEL];
};

static void
model_reach(struct model *model, size_t i)
{
	size_t j, to;

	if (model->reached[i])
		return;
	model->reached[i] = true;
	for (j = 0; j < fake_usable(&marking_heap, model->words[i] * W) / W;
	     j++)
		for (to = 0; to < model->count; to++)
			if ((char *)model->nodes[i][j] >=
				(char *)model->nodes[to] &&
			    (char *)model->nodes[i][j] <
				(char *)model->nodes[to] +
				    fake_usable(
					&marking_heap, model->words[to] * W))
				model_reach(model, to);
}

static void
model_make(struct model *model)
{
	size_t i, j, to, size;

	memset(model, 0, sizeof(*model));
	model->count = 1 + (size_t)rand() % MAX_MODEL;
	for (i = 0; i < model->count; i++) {
		model->words[i] = 1 + (size_t)rand() % 20;
		model->nodes[i] = marking_node(model->words[i]);
	}
	for (i = 0; i < model->count; i++) {
		for (j = (size_t)rand() % 3; j > 0; j--) {
			to = (size_t)rand() % model->count;
			size = fake_usable(&marking_heap, model->words[to] * W);
			model->nodes[i][(size_t)rand() % model->words[i]] =
			    (char *)model->nodes[to] +
			    (rand() % 2 ? 0 : (size_t)rand() % (size + 2));
		}
	}
}

TEST_LOOP(random_graphs, 0, FAKE_KINDS)
{
	static struct model model;
	size_t round, i, to;

	for (round = 0; round < 300; round++) {
		srand((unsigned)round + 1);
		marking_open_heap(_i, 1 << 20);
		model_make(&model);
		for (i = 0; i < 4; i++) {
			to = (size_t)rand() % model.count;
			root_value(model.nodes[to]);
			model_reach(&model, to);
		}
		ck_assert_int_eq(
		    mark_bounded(round % 2 ? 1000 : 1 + round % 7), MU_OK);
		for (i = 0; i < model.count; i++)
			ck_assert_int_eq(
			    fake_marked(&marking_heap, model.nodes[i]),
			    model.reached[i]);
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

SUITE(.teardown = marking_teardown);
