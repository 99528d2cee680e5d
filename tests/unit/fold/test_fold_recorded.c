/*
 * Folding with a recorder: entries of the same stack become one, against a
 * model that merges what folding without a recorder gives.
 */
#include "heapwalk/fold/leaks.h"
#include "heapwalk/recorded/recorded.h"
#include "mu/sort.h"
#include "tests/support/graph/folding.h"
#include "tests/support/heaps/fake_recorder.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

/*
 * Entries by the words of Android's report, slowly: equal ones become one, the
 * heaviest come first.
 */

_Static_assert(sizeof(struct mu_leak) <= MU_SORT_MOST, "mu_sort() sorts them");

static int
compare_words(uintptr_t a, uintptr_t b)
{
	return (a > b) - (a < b);
}

static int
compare_frames(const struct mu_leak *a, const struct mu_leak *b)
{
	size_t i;

	if (a->num_frames != b->num_frames)
		return compare_words(a->num_frames, b->num_frames);
	if (a->num_more != b->num_more)
		return compare_words(a->num_more, b->num_more);
	for (i = 0; i < a->num_frames && i < MU_LEAK_FRAMES; i++)
		if (a->frames[i] != b->frames[i])
			return compare_words(a->frames[i], b->frames[i]);
	for (i = 0; i < a->num_more; i++)
		if (a->more[i] != b->more[i])
			return compare_words(a->more[i], b->more[i]);
	return 0;
}

static int
by_frames(const void *a, const void *b)
{
	const struct mu_leak *left = a, *right = b;
	int order = compare_frames(left, right);

	return order != 0
	    ? order
	    : compare_words(left->range.begin, right->range.begin);
}

static int
by_total_size(const void *a, const void *b)
{
	const struct mu_leak *left = a, *right = b;

	if (left->total_size != right->total_size)
		return compare_words(right->total_size, left->total_size);
	return compare_words(left->range.begin, right->range.begin);
}

static void
merge(struct mu_leak *into, const struct mu_leak *leak)
{
	into->similar_count += 1 + leak->similar_count;
	into->similar_size += mu_range_size(leak->range) + leak->similar_size;
	into->similar_referenced_count +=
	    leak->referenced_count + leak->similar_referenced_count;
	into->similar_referenced_size +=
	    leak->referenced_size + leak->similar_referenced_size;
	into->total_size += leak->total_size;
}

static __attribute__((unused)) void
model_merge(struct mu_leak *all, size_t *count)
{
	size_t i, out = 0;

	mu_sort(all, *count, sizeof(*all), by_frames);
	for (i = 0; i < *count; i++) {
		if (out > 0 && all[i].num_frames > 0 &&
		    compare_frames(&all[out - 1], &all[i]) == 0)
			merge(&all[out - 1], &all[i]);
		else if (out++ != i)
			all[out - 1] = all[i];
	}
	*count = out;
}

static __attribute__((unused)) void
model_sort(struct mu_leak *all, size_t count)
{
	mu_sort(all, count, sizeof(*all), by_total_size);
}

#define NODES 400
#define STACKS 12

static struct fake_recorder fake;
static struct mu_recorder recorder;
static uint32_t stacks[STACKS];
static size_t lengths[STACKS];
static uintptr_t frames[STACKS][40];

static void
setup(void)
{
	image_setup();
	fake_recorder_open(&fake);
}

static void
clean_up(void)
{
	fake_recorder_close(&fake);
	image_teardown();
	folding_teardown();
}

/* Seals the heap, and makes what was recorded known to it. */
static void
record(void)
{
	struct mu_snapshot snap = { .pid = getpid() };

	if (!folding_heap.blocks.sealed)
		fake_heap_seal(&folding_heap);
	image_open(&snap);
	ck_assert(mu_recorder_open(
	    &recorder, &snap, (uintptr_t)&fake.header, &image.arena));
	folding_heap.blocks.recorder = &recorder;
}

/* Blocks begin at multiples of 16: sizes here are even numbers of words. */
static void
by_stack(const void *block, size_t size, size_t stack)
{
	fake_recorder_block(&fake, block, size, stacks[stack], false);
}

static void
make_stacks(void)
{
	size_t i, j;

	for (i = 0; i < STACKS; i++) {
		lengths[i] = 1 + (size_t)rand() % 24;
		for (j = 0; j < lengths[i]; j++)
			frames[i][j] = 0x1000 + (size_t)rand() % 2;
		/*
		 * Some stacks differ only after the 16th frame, or in length.
		 */
		if (i > 0 && rand() % 3 == 0) {
			memcpy(frames[i], frames[i - 1], sizeof(frames[i]));
			lengths[i] = lengths[i - 1] + (size_t)rand() % 2;
		}
		stacks[i] = fake_recorder_stack(&fake, frames[i], lengths[i]);
	}
}

CASE(merging, setup, clean_up);

TEST_LOOP(same_stack_is_one_entry, 0, FAKE_KINDS)
{
	void **a, **b, **c, **d;

	folding_open_heap(_i, 1 << 16);
	make_stacks();
	frames[1][0] = 0x77;
	stacks[0] = fake_recorder_stack(&fake, frames[0], 3);
	stacks[1] = fake_recorder_stack(&fake, frames[1], 3);
	stacks[2] = fake_recorder_stack(&fake, frames[0], 3);
	a = folding_node(4), b = folding_node(8), c = folding_node(4),
	d = folding_node(2);
	by_stack(a, 32, 0);
	by_stack(b, 64, 2);
	by_stack(c, 32, 1);
	by_stack(d, 16, 0);
	b[0] = d;
	record();
	fold();
	ck_assert_uint_eq(folding_leaks.num_leaks, 4);
	ck_assert_uint_eq(folding_leaks.entries.count, 2);
	ck_assert_uint_eq(folding_entries[0].range.begin, (uintptr_t)a);
	ck_assert_uint_eq(mu_range_size(folding_entries[0].range), bytes(4));
	ck_assert_uint_eq(folding_entries[0].similar_count, 1);
	ck_assert_uint_eq(folding_entries[0].similar_size, bytes(8));
	ck_assert_uint_eq(folding_entries[0].similar_referenced_count, 1);
	ck_assert_uint_eq(folding_entries[0].similar_referenced_size, bytes(2));
	ck_assert_uint_eq(folding_entries[0].referenced_count, 0);
	ck_assert_uint_eq(
	    folding_entries[0].total_size, bytes(4) + bytes(8) + bytes(2));
	ck_assert_uint_eq(folding_entries[0].num_frames, 3);
	ck_assert_mem_eq(folding_entries[0].frames, frames[0], 3 * W);
	ck_assert_uint_eq(folding_entries[1].range.begin, (uintptr_t)c);
	ck_assert_uint_eq(folding_entries[1].similar_count, 0);
	ck_assert_uint_eq(folding_entries[1].frames[0], 0x77);
}

/* Sizes do not matter, nor contents: what has no stack stays by itself. */
TEST_LOOP(no_stack_no_merge, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	folding_open_heap(_i, 1 << 16);
	a = folding_node(4), b = folding_node(4), c = folding_node(4);
	fake_recorder_block(&fake, a, 32, MU_STACK_OFF, false);
	fake_recorder_block(&fake, b, 32, MU_STACK_EMPTY, false);
	(void)c;
	record();
	fold();
	ck_assert_uint_eq(folding_leaks.entries.count, 3);
}

/* Where stacks are sampled, those that were not are one entry. */
TEST_LOOP(unsampled_are_one_entry, 0, FAKE_KINDS)
{
	void **blocks[6];
	size_t i;

	folding_open_heap(_i, 1 << 16);
	make_stacks();
	for (i = 0; i < 6; i++)
		blocks[i] = folding_node(4);
	fake_recorder_block(&fake, blocks[0], 32, MU_STACK_OFF, false);
	fake_recorder_block(&fake, blocks[1], 32, MU_STACK_OFF_CHILD, false);
	by_stack(blocks[2], 32, 0);
	fake_recorder_block(&fake, blocks[3], 32, MU_STACK_EMPTY, false);
	blocks[4][0] = blocks[5]; /* without a word */
	fake.header.sample_bytes = 4096;
	record();
	fold();
	ck_assert_uint_eq(folding_leaks.entries.count, 3);
	ck_assert_uint_eq(folding_entries[0].range.begin, (uintptr_t)blocks[0]);
	ck_assert_uint_eq(folding_entries[0].num_frames, 0);
	ck_assert_uint_eq(folding_entries[0].similar_count, 2);
	ck_assert_uint_eq(folding_entries[0].similar_referenced_count, 1);
	ck_assert_uint_eq(folding_leaks.num_total, 3);
}

/* Many small ones of a stack come before a large one; the limit is last. */
TEST_LOOP(limit_after_merging, 0, FAKE_KINDS)
{
	void **large;
	size_t i;

	folding_open_heap(_i, 1 << 16);
	make_stacks();
	large = folding_node(100);
	for (i = 0; i < 40; i++)
		by_stack(folding_node(4), 32, 0);
	record();
	ck_assert_int_eq(fold_until(1, FAKE_NO_DEADLINE), MU_OK);
	ck_assert_uint_eq(folding_leaks.num_leaks, 41);
	ck_assert_uint_eq(folding_leaks.leak_bytes, bytes(100) + 40 * bytes(4));
	ck_assert_uint_eq(folding_leaks.entries.count, 1);
	ck_assert_uint_eq(folding_entries[0].similar_count, 39);
	ck_assert_uint_eq(folding_entries[0].total_size, 40 * bytes(4));
	ck_assert_int_eq(fold_until(0, FAKE_NO_DEADLINE), MU_OK);
	ck_assert_uint_eq(folding_leaks.entries.count, 0);
	(void)large;
}

/* An entry shows the frames of one of its blocks: all must be equal. */
TEST_LOOP(frames_after_the_16th, 0, FAKE_KINDS)
{
	uintptr_t deep[40];
	void **a, **b, **c, **d;
	size_t i;

	folding_open_heap(_i, 1 << 16);
	for (i = 0; i < 40; i++)
		deep[i] = 0x1000 + i;
	stacks[0] = fake_recorder_stack(&fake, deep, 40);
	stacks[1] = fake_recorder_stack(&fake, deep, 16);
	deep[39]++;
	stacks[2] = fake_recorder_stack(&fake, deep, 40);
	a = folding_node(4), b = folding_node(4), c = folding_node(4),
	d = folding_node(4);
	by_stack(a, 32, 0);
	by_stack(b, 32, 1);
	by_stack(c, 32, 2);
	by_stack(d, 32, 0);
	record();
	fold();
	ck_assert_uint_eq(folding_leaks.entries.count, 3);
	ck_assert_uint_eq(folding_entries[0].range.begin, (uintptr_t)a);
	ck_assert_uint_eq(folding_entries[0].similar_count, 1);
	ck_assert_uint_eq(folding_entries[0].num_frames, 16);
}

/* The entry is the program's block, not malloc's with the guards. */
TEST_LOOP(guarded_block, 0, FAKE_KINDS)
{
	char *block;

	folding_open_heap(_i, 1 << 16);
	block = (char *)folding_node(20);
	memcpy(block + 32, "contents", 8);
	fake_recorder_block(&fake, block + 32, 40, MU_STACK_OFF, false);
	fake.header.flags |= MU_RECORDED_GUARDED;
	fake.header.max_guard = 32;
	record();
	fold();
	ck_assert_uint_eq(folding_leaks.leak_bytes, bytes(20));
	ck_assert_uint_eq(folding_leaks.entries.count, 1);
	ck_assert_uint_eq(
	    folding_entries[0].range.begin, (uintptr_t)block + 32);
	ck_assert_uint_eq(mu_range_size(folding_entries[0].range), 40);
	ck_assert_uint_eq(folding_entries[0].total_size, 40);
	ck_assert_mem_eq(folding_entries[0].contents, "contents", 8);
}

/* Without memory for folding, each block is an entry, and has its stack. */
TEST_LOOP(frames_without_folding, 0, FAKE_KINDS)
{
	void **a;

	folding_open_heap(_i, 1 << 16);
	make_stacks();
	a = folding_node(4);
	by_stack(a, 32, 0);
	record();
	after_make = forget_edges;
	folding_heap.arena.fail_at = 1;
	ck_assert_int_eq(fold_until(9, FAKE_NO_DEADLINE), MU_PARTIAL);
	ck_assert_uint_eq(folding_leaks.entries.count, 1);
	ck_assert_uint_eq(
	    folding_entries[0].num_frames, lengths[0] < 16 ? lengths[0] : 16);
	ck_assert_mem_eq(folding_entries[0].frames, frames[0],
	    folding_entries[0].num_frames * W);
}

static void
expect_same(const struct mu_leak *a, const struct mu_leak *b, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		ck_assert_uint_eq(a[i].range.begin, b[i].range.begin);
		ck_assert_mem_eq(
		    &a[i], &b[i], offsetof(struct mu_leak, num_more));
	}
}

CASE(random, NULL, clean_up);

/* What folding gives, with frames, merged by heapwalk/fold/similar.c. */
TEST_LOOP(random_stacks, 0, FAKE_KINDS)
{
	static struct mu_leak all[NODES];
	static void **nodes[NODES];
	static size_t of[NODES];
	size_t round, i, count, j;

	for (round = 0; round < 40; round++) {
		srand((unsigned)round + 1);
		setup();
		folding_open_heap(_i, 1 << 20);
		make_stacks();
		for (i = 0; i < NODES; i++) {
			nodes[i] = folding_node(4 + 2 * ((size_t)rand() % 3));
			of[i] = (size_t)rand() % (STACKS + 2);
			if (of[i] < STACKS)
				by_stack(nodes[i], 32, of[i]);
		}
		for (i = 0; i < NODES / 3; i++)
			nodes[rand() % NODES][rand() % 4] =
			    nodes[rand() % NODES];
		fold();
		count = folding_leaks.entries.count;
		memcpy(all, folding_entries, count * sizeof(*all));
		for (i = 0; i < count; i++) {
			for (j = 0; (uintptr_t)nodes[j] != all[i].range.begin;)
				j++;
			if (of[j] >= STACKS)
				continue;
			all[i].num_frames =
			    lengths[of[j]] < 16 ? lengths[of[j]] : 16;
			memcpy(all[i].frames, frames[of[j]],
			    all[i].num_frames * W);
			all[i].num_more = lengths[of[j]] - all[i].num_frames;
			all[i].more = frames[of[j]] + 16;
		}
		model_merge(all, &count);
		model_sort(all, count);
		record();
		fold();
		ck_assert_uint_eq(folding_leaks.entries.count, count);
		expect_same(folding_entries, all, count);
		clean_up();
	}
	setup();
	folding_open_heap(_i, 4096);
	fake_recorder_block(&fake, (void *)0x1000, 1, MU_STACK_OFF, false);
}
