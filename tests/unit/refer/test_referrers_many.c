/*
 * The references to a block in random graphs: exactly those that marking
 * follows; and limits of number, time and memory.
 */
#include "tests/support/graph/referring.h"
#include "tests/support/suite.h"

TEST_LOOP(many_are_counted_and_cut, 0, FAKE_KINDS)
{
	size_t number = 100000, i;
	void **slots = calloc(number, W), **a, **b;

	open_case(_i, 4096);
	a = marking_node(1);
	b = marking_node(1);
	b[0] = a;
	for (i = 0; i < number; i++)
		slots[i] = a;
	root_range(slots, slots + number);
	expect(a, number + 1);
	ck_assert_uint_eq(found.count, MU_MAX_REFERRERS);
	for (i = 0; i < found.count; i++)
		ck_assert_uint_eq(found.items[i].address, (uintptr_t)&slots[i]);
	free(slots);
}

/* With tags taken off, and at every byte. */
TEST_LOOP(rules_of_words, 0, FAKE_KINDS)
{
	char bytes[64] __attribute__((aligned(16))) = { 0 };
	uintptr_t word;
	void **a;

	open_case(_i, 4096);
	a = marking_node(2);
	word = (uintptr_t)a | (uintptr_t)0xab << 56;
	memcpy(bytes + 8, &word, W);
	word = (uintptr_t)a;
	memcpy(bytes + 19, &word, W);
	root_range(bytes, bytes + sizeof(bytes));
	expect(a, 0);
	marking_heap.blocks.words.tags = (uintptr_t)0xff << 56;
	expect(a, 1);
	ck_assert_uint_eq(found.items[0].value >> 56, 0xab);
	ck_assert_int_eq(found.items[0].into, 0);
	marking_heap.blocks.words.unaligned = true;
	expect(a, 2);
	ck_assert_uint_eq(found.items[1].address, (uintptr_t)bytes + 19);
	marking_heap.blocks.words.tags = 0;
	expect(a, 1);
}

static const struct mu_referrer *
find_item(uintptr_t address)
{
	size_t i;

	for (i = 0; i < found.count; i++)
		if (found.items[i].address == address)
			return &found.items[i];
	return NULL;
}

static size_t
usable_size(const void *begin)
{
	struct mu_block block;

	ck_assert(
	    mu_blocks_find(&marking_heap.blocks, (uintptr_t)begin, &block));
	return mu_range_size(block.range);
}

/*
 * Random graphs: the words told are exactly those that hold an address in the
 * block; and a block is marked if and only if a root or a marked block is
 * among what points at it.
 */
TEST_LOOP(random_graphs, 0, 40)
{
	enum { BLOCKS = 60, SLOTS = 12 };
	void **blocks[BLOCKS], *slots[SLOTS];
	size_t i, j, k, words, wanted, usable;
	bool led_to;

	srand((unsigned)_i + 1);
	open_case(_i % FAKE_KINDS, 1 << 16);
	for (i = 0; i < BLOCKS; i++)
		blocks[i] = marking_node(1 + (size_t)rand() % 9);
	fake_heap_seal(&marking_heap);
	for (i = 0; i < BLOCKS; i++) {
		usable = usable_size(blocks[i]);
		words = usable / W;
		/* No value that looks like an old link: no end of a block. */
		for (j = 0; j < words; j++)
			blocks[i][j] = rand() % 4 == 0
			    ? (char *)blocks[(size_t)rand() % BLOCKS] +
				rand() % (int)W
			    : NULL;
	}
	for (i = 0; i < SLOTS; i++)
		slots[i] = rand() % 2 == 0
		    ? (char *)blocks[(size_t)rand() % BLOCKS] + rand() % (int)W
		    : NULL;
	root_range(slots, slots + SLOTS);
	mark();
	for (i = 0; i < BLOCKS; i++) {
		wanted = 0;
		led_to = false;
		ck_assert_int_eq(look_for(blocks[i], FAKE_NO_DEADLINE), MU_OK);
		for (j = 0; j < SLOTS; j++) {
			if ((uintptr_t)slots[j] - (uintptr_t)blocks[i] >= W)
				continue;
			wanted++;
			led_to = true;
			ck_assert_ptr_nonnull(find_item((uintptr_t)&slots[j]));
		}
		for (j = 0; j < BLOCKS; j++) {
			words = usable_size(blocks[j]) / W;
			for (k = 0; k < words && j != i; k++) {
				if ((uintptr_t)blocks[j][k] -
					(uintptr_t)blocks[i] >=
				    W)
					continue;
				wanted++;
				led_to |= fake_marked(&marking_heap, blocks[j]);
				ck_assert_ptr_nonnull(
				    find_item((uintptr_t)&blocks[j][k]));
			}
		}
		ck_assert_uint_eq(found.total, wanted);
		ck_assert_int_eq(found.reachable, led_to);
		ck_assert_int_eq(fake_marked(&marking_heap, blocks[i]), led_to);
	}
}

TEST(deadline)
{
	size_t size = (size_t)32 << 20;
	void **a;

	open_case(FAKE_LISTED, size + 4096);
	a = marking_node(1);
	fake_block(&marking_heap, size, false);
	mark();
	ck_assert_int_eq(look_for(a, 0), MU_ERR_TIMEOUT);
	ck_assert_str_ne(referring_why.text, "");
	ck_assert_int_eq(look_for(a, FAKE_NO_DEADLINE), MU_OK);
}

/* Every request for memory fails once; then all is well. */
TEST_LOOP(no_memory, 0, FAKE_KINDS)
{
	enum mu_status status = MU_ERR_NO_MEMORY;
	void *slots[300], **a;
	size_t i;

	open_case(_i, 4096);
	a = marking_node(1);
	for (i = 0; i < 300; i++)
		slots[i] = a;
	root_range(slots, slots + 300);
	mark();
	for (i = 1; status == MU_ERR_NO_MEMORY; i++) {
		ck_assert_uint_lt(i, 20);
		marking_heap.arena.fail_at = i;
		status = look_for(a, FAKE_NO_DEADLINE);
	}
	ck_assert_int_eq(status, MU_OK);
	ck_assert_uint_gt(i, 3);
	ck_assert_uint_eq(found.count, 300);
	marking_heap.arena.fail_at = 0;
}

SUITE(.teardown = marking_teardown);
