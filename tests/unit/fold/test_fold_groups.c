/*
 * Groups of lost blocks: which blocks are alike, what hangs on them, and that
 * the totals add up.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

static struct mu_lost_group *groups;
static size_t num_groups;

static void
open_heap(int kind, size_t size)
{
	folding_open_heap(kind, size);
	folding_wanted.by = MU_BY_SHAPE;
	after_make = NULL;
}

static void
teardown(void)
{
	folding_teardown();
	free(groups);
	groups = NULL;
}

/* The totals of all groups add up, whatever the limit. */
static void
expect_sums(void)
{
	const struct mu_groups_info *info = &folding_leaks.groups;
	size_t i, blocks = info->rest_blocks, sum = info->rest_bytes;

	for (i = 0; i < num_groups; i++) {
		blocks += groups[i].num_blocks;
		sum += groups[i].total_bytes;
		ck_assert_uint_ge(groups[i].num_blocks, groups[i].count);
		ck_assert(i == 0 ||
		    groups[i - 1].total_bytes >= groups[i].total_bytes);
	}
	ck_assert_uint_eq(blocks, folding_leaks.num_leaks);
	ck_assert_uint_eq(sum, folding_leaks.leak_bytes);
}

static void
group_until(size_t limit)
{
	ck_assert_int_eq(fold_until(limit, FAKE_NO_DEADLINE), MU_OK);
	free(groups);
	groups = unpack_groups(&folding_leaks.entries);
	num_groups = folding_leaks.entries.num_groups;
	ck_assert_uint_eq(folding_leaks.groups.count, num_groups);
	if (folding_wanted.by != MU_BY_BLOCK)
		expect_sums();
}

static void
group(void)
{
	group_until(SIZE_MAX);
	ck_assert_uint_eq(folding_leaks.groups.num_total, num_groups);
	ck_assert_uint_eq(folding_leaks.groups.rest_bytes, 0);
}

/* Memory that is not in place, as that of another process. */
static size_t peeks; /* of more than what entries show */

static const void *
view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	(void)memory;
	(void)size;
	return (const void *)address;
}

static const void *
copy_some(
    struct mu_memory *memory, uintptr_t address, size_t size, void *buffer)
{
	(void)memory;
	peeks += size > MU_LEAK_CONTENTS;
	return memcpy(buffer, (const void *)address, size);
}

static bool
copy_pages(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	(void)memory;
	if (mu_range_size(range) > 0)
		memcpy(buffer, (const void *)range.begin, mu_range_size(range));
	return true;
}

static void
be_remote(void)
{
	static const struct mu_memory_ops ops = {
		.view = view, .peek = copy_some, .read = copy_pages
	};
	static struct mu_memory memory = { .ops = &ops, .page_size = 4096 };

	folding_graph.memory = &memory;
}

/* The groups are the same wherever the memory is. */
static void
expect_same_remotely(void)
{
	size_t size = (num_groups + 1) * sizeof(*groups);
	struct mu_lost_group *before = memcpy(malloc(size), groups, size);
	size_t i, j, count = num_groups;
	const struct mu_lost_hold *hold;

	after_make = be_remote;
	group();
	ck_assert_uint_eq(num_groups, count);
	for (i = 0; i < count; i++) {
		ck_assert_uint_eq(groups[i].key, before[i].key);
		ck_assert_uint_eq(groups[i].count, before[i].count);
		ck_assert_uint_eq(groups[i].num_blocks, before[i].num_blocks);
		ck_assert_uint_eq(groups[i].example.range.begin,
		    before[i].example.range.begin);
		ck_assert_uint_eq(groups[i].num_others, before[i].num_others);
		ck_assert_uint_eq(groups[i].num_holds, before[i].num_holds);
		for (j = 0; j < groups[i].num_holds; j++) {
			hold = &before[i].holds[j];
			ck_assert_uint_eq(
			    groups[i].holds[j].address, hold->address);
			ck_assert_uint_eq(
			    groups[i].holds[j].count, hold->count);
			ck_assert_str_eq(groups[i].holds[j].text, hold->text);
		}
	}
	free(before);
}

/* A list of COUNT nodes, without a header; a payload hangs on each. */
static void **
list(size_t count)
{
	void **first = NULL, **node;

	while (count-- > 0) {
		node = folding_node(4);
		node[0] = first;
		node[1] = folding_node(8);
		first = node;
	}
	return first;
}

/* The blocks BEGINS, which group 0 is: others are spread over it. */
static void
expect_others(void **const *begins, size_t count)
{
	const struct mu_lost_group *all = &groups[0];
	size_t i, j, before = 0;

	ck_assert_uint_eq(all->count, count);
	ck_assert_uint_eq(all->num_others,
	    count - 1 < MU_GROUP_OTHERS ? count - 1 : MU_GROUP_OTHERS);
	for (i = 0; i < all->num_others; i++) {
		for (j = 0; j < count; j++)
			if (all->others[i] == (uintptr_t)begins[j])
				break;
		ck_assert_uint_lt(j, count);
		ck_assert_uint_ne(all->others[i], all->example.range.begin);
		ck_assert(i == 0 || j != before);
		ck_assert(i == 0 || count <= MU_GROUP_OTHERS ||
		    (j > before ? j - before : before - j) <=
			2 * count / MU_GROUP_OTHERS);
		before = j;
	}
}

/* A header that begins and ends a circular list of COUNT nodes. */
static void **
circle(size_t count)
{
	void **head = folding_node(12), **node, **last = head;

	while (count-- > 0) {
		node = folding_node(4);
		node[1] = last;
		last[0] = node;
		last = node;
	}
	last[0] = head;
	head[1] = last;
	return head;
}

/* A structure with a vector of COUNT bytes: begin, end, end of storage. */
static void **
vector(size_t count)
{
	void **head = folding_node(6);
	char *buffer = (char *)folding_node((count + W - 1) / W);

	head[2] = buffer;
	head[3] = buffer + count;
	head[4] = buffer + (count + W - 1) / W * W;
	return head;
}

TEST_LOOP(equal_structs, 0, FAKE_KINDS)
{
	size_t i;
	void **node;

	open_heap(_i, 1 << 20);
	for (i = 0; i < 300; i++) {
		node = folding_node(6);
		node[0] = (void *)(i + 1);
		node[3] = folding_node(10);
	}
	group();
	ck_assert_uint_eq(num_groups, 1);
	ck_assert_uint_eq(groups[0].count, 300);
	ck_assert_uint_eq(groups[0].num_blocks, 600);
	ck_assert_uint_eq(groups[0].size, bytes(6));
	ck_assert_uint_eq(groups[0].bytes, 300 * bytes(6));
	ck_assert_uint_eq(groups[0].num_holds, 1);
	ck_assert_uint_eq(groups[0].holds[0].offset, 3 * W);
	ck_assert_uint_eq(groups[0].holds[0].count, 1);
	ck_assert_uint_eq(groups[0].holds[0].bytes, bytes(10));
	ck_assert_uint_eq(folding_entries[5].group, 1);
}

/* Blocks that are alone, and those on which one hangs. */
TEST_LOOP(others, 0, 2 * FAKE_KINDS)
{
	static const size_t counts[] = { 1, 2, 5, 8, 9, 10, 17, 100 };
	void **begins[100];
	size_t i, j;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		open_heap(_i / 2, 1 << 20);
		for (j = 0; j < counts[i]; j++) {
			begins[j] = folding_node(6);
			if (_i % 2)
				begins[j][3] = folding_node(10);
		}
		group();
		ck_assert_uint_eq(num_groups, 1);
		expect_others(begins, counts[i]);
		expect_same_remotely();
		fake_heap_close(&folding_heap);
	}
	open_heap(0, 4096);
}

/* Another size, another offset, another size of what hangs. */
TEST_LOOP(differences, 0, FAKE_KINDS)
{
	static const size_t kinds[][3] = { { 6, 3, 10 }, { 8, 3, 10 },
		{ 6, 4, 10 }, { 6, 3, 14 } };
	size_t i;

	open_heap(_i, 1 << 20);
	for (i = 0; i < 40; i++)
		folding_node(kinds[i % 4][0])[kinds[i % 4][1]] =
		    folding_node(kinds[i % 4][2]);
	group();
	ck_assert_uint_eq(num_groups, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(groups[i].count, 10);
		ck_assert(!groups[i].uneven);
	}
}

TEST_LOOP(lists_of_any_length, 0, FAKE_KINDS)
{
	size_t i;

	open_heap(_i, 1 << 20);
	for (i = 60; i > 2; i--)
		list(i);
	group();
	ck_assert_uint_eq(num_groups, 1);
	ck_assert_uint_eq(groups[0].count, 58);
	ck_assert(groups[0].uneven);
	ck_assert(groups[0].holds[0].again || groups[0].holds[1].again);
}

/* The header is where a reader would look: two words point to it. */
TEST_LOOP(cycles_begin_at_header, 0, FAKE_KINDS)
{
	void **head[20];
	size_t i, j;

	open_heap(_i, 1 << 20);
	for (i = 0; i < 20; i++)
		head[i] = circle(2 + i);
	group();
	ck_assert_uint_eq(num_groups, 1);
	ck_assert_uint_eq(groups[0].count, 20);
	ck_assert_uint_eq(groups[0].size, bytes(12));
	ck_assert_uint_eq(groups[0].example.range.begin, (uintptr_t)head[0]);
	for (i = 0; i < folding_leaks.entries.count; i++) {
		for (j = 0; j < 20; j++)
			if (folding_entries[i].range.begin ==
			    (uintptr_t)head[j])
				break;
		ck_assert_uint_lt(j, 20);
	}
}

/* Without groups it is the lowest, as before. */
TEST_LOOP(cycles_without_groups, 0, FAKE_KINDS)
{
	void **low;

	open_heap(_i, 1 << 20);
	folding_wanted.by = MU_BY_BLOCK;
	low = folding_node(4);
	low[0] = folding_node(12);
	((void **)low[0])[0] = low;
	group_until(10);
	ck_assert_uint_eq(num_groups, 0);
	ck_assert_uint_eq(folding_entries[0].range.begin, (uintptr_t)low);
}

/* Listed blocks adjoin each other: an end is the next one's begin. */
TEST_LOOP(vectors_of_any_size, FAKE_SPAN, FAKE_KINDS)
{
	size_t i;

	open_heap(_i, 1 << 20);
	for (i = 1; i < 50; i++)
		vector(8 * i * i);
	group();
	ck_assert_uint_eq(num_groups, 1);
	ck_assert_uint_eq(groups[0].count, 49);
}

TEST_LOOP(arrays_of_any_size, 0, FAKE_KINDS)
{
	void **head, **array;
	size_t i, j;

	open_heap(_i, 1 << 21);
	for (i = 2; i < 40; i++) {
		head = folding_node(6);
		array = folding_node(2 * i);
		head[1] = array;
		for (j = 0; j < i; j++)
			array[j] = folding_node(100);
	}
	group();
	ck_assert_uint_eq(num_groups, 1);
	ck_assert_uint_eq(groups[0].count, 38);
	ck_assert_uint_eq(groups[0].num_others, 8);
	ck_assert(groups[0].holds[1].element);
}

TEST_LOOP(texts_of_any_length, 0, FAKE_KINDS)
{
	static const char text[] = "one two three four five six seven eight";
	void **head;
	size_t i;

	open_heap(_i, 1 << 20);
	for (i = 2; i < sizeof(text); i++) {
		head = folding_node(6);
		head[1] = folding_node(i / W + 1);
		memcpy(head[1], text, i);
	}
	group();
	ck_assert_uint_eq(num_groups, 1);
	ck_assert_uint_eq(groups[0].holds[0].text[0], 'o');
}

/* What two heads lead to counts once. */
TEST_LOOP(shared_counts_once, 0, FAKE_KINDS)
{
	void **a, **b, **shared;

	open_heap(_i, 1 << 20);
	a = folding_node(6);
	b = folding_node(10);
	shared = folding_node(20);
	shared[0] = folding_node(30);
	a[1] = b[2] = shared;
	group();
	ck_assert_uint_eq(num_groups, 2);
	ck_assert_uint_eq(folding_leaks.num_leaks, 4);
}

TEST_LOOP(limit, 0, FAKE_KINDS)
{
	size_t i;

	open_heap(_i, 1 << 20);
	for (i = 1; i <= 20; i++)
		folding_node(6 + 2 * i);
	group_until(6);
	ck_assert_uint_eq(num_groups, 6);
	ck_assert_uint_eq(folding_leaks.groups.num_total, 20);
	ck_assert_uint_eq(folding_leaks.groups.rest_blocks, 14);
}

/* If memory is exhausted at any moment there may be no groups, or fewer. */
TEST_LOOP(no_memory, 0, FAKE_KINDS)
{
	size_t i;

	open_heap(_i, 1 << 20);
	for (i = 2; i < 100; i++)
		list(i);
	fake_heap_seal(&folding_heap);
	for (i = 1; i < 60; i++) {
		folding_heap.arena.fail_at = i;
		fold_until(SIZE_MAX, FAKE_NO_DEADLINE);
		free(groups);
		groups = unpack_groups(&folding_leaks.entries);
		num_groups = folding_leaks.entries.num_groups;
		if (folding_leaks.groups.by != MU_BY_BLOCK)
			expect_sums();
		else
			ck_assert_uint_eq(num_groups, 0);
	}
}

/* What many lead to is read once, and again only for rows that are shown. */
TEST_LOOP(read_once, 0, FAKE_KINDS)
{
	void **first;
	size_t i;

	open_heap(_i, 1 << 20);
	first = list(30);
	for (i = 0; i < 400; i++)
		folding_node(6)[i % 6] = first;
	group();
	peeks = 0;
	expect_same_remotely();
	ck_assert_uint_le(peeks, folding_leaks.num_leaks + num_groups * 61);
}

/* Data, pointers to the end of a block, and what is searched of a large one. */
static void
fill_words(void **words, size_t count, void **to)
{
	size_t at = (size_t)rand() % (count - 2);

	words[(size_t)rand() % count] = (void *)(uintptr_t)rand();
	memcpy(&words[(size_t)rand() % count], "a text", 7);
	words[at] = to;
	words[at + 1] = to + 2;
	words[at + 2] = to + (size_t)rand() % 4;
}

TEST_LOOP(words_of_any_kind, 0, FAKE_KINDS)
{
	size_t round, i, count;
	size_t words[100];
	void **nodes[100];

	for (round = 0; round < 200; round++) {
		srand((unsigned)round + 1);
		open_heap(_i, 1 << 20);
		count = 2 + (size_t)rand() % 98;
		for (i = 0; i < count; i++) {
			words[i] = 3 + (size_t)rand() % (i % 9 ? 9 : 90);
			nodes[i] = folding_node(words[i]);
		}
		for (i = 0; i < count * 2 / 3; i++)
			fill_words(
			    nodes[i], words[i], nodes[(size_t)rand() % count]);
		group();
		expect_same_remotely();
		fake_heap_close(&folding_heap);
	}
	open_heap(_i, 4096);
}

/* Random graphs: chains, rings, and what hangs on them. */
TEST_LOOP(random_graphs, 0, FAKE_KINDS)
{
	size_t round, i, count, edges, num_total;
	void **nodes[150];
	size_t words[150];

	for (round = 0; round < 1000; round++) {
		srand((unsigned)round + 1);
		open_heap(_i, 1 << 20);
		folding_wanted.by =
		    MU_BY_STACK + round / 4 % (MU_BY_MODULE - MU_BY_STACK + 1);
		count = 1 + (size_t)rand() % 150;
		for (i = 0; i < count; i++) {
			words[i] = 3 + (size_t)rand() % 12;
			nodes[i] = folding_node(words[i]);
		}
		edges = (size_t)rand() % (3 * count);
		for (i = 0; i < edges; i++) {
			size_t from = (size_t)rand() % count;

			nodes[from][(size_t)rand() % words[from]] =
			    nodes[(size_t)rand() % count];
		}
		after_make = round % 2 ? forget_edges : NULL;
		group();
		ck_assert_uint_eq(folding_leaks.num_leaks, count);
		num_total = num_groups;
		group_until(1 + (size_t)rand() % num_total);
		ck_assert_uint_eq(folding_leaks.groups.num_total, num_total);
		fake_heap_close(&folding_heap);
	}
	open_heap(_i, 4096);
}

SUITE(.teardown = teardown);
