/*
 * Which words count (use_unaligned, pointer_mask) in roots, blocks and values;
 * and what a second look (confirm) finds reachable.
 */
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define PIECE 32768 /* on and around its multiples words are tested */
#define TAG (0xabul << 56)

static void
store(void *place, const void *pointer, uintptr_t tag)
{
	uintptr_t word = (uintptr_t)pointer | tag;

	memcpy(place, &word, sizeof(word));
}

TEST_LOOP(unaligned_in_a_root, 0, FAKE_KINDS)
{
	char slots[4 * W] __attribute__((aligned(8)));
	size_t at, unaligned;
	void *block;

	for (at = 0; at <= sizeof(slots) - W; at++) {
		for (unaligned = 0; unaligned < 2; unaligned++) {
			marking_open_heap(_i, 4096);
			block = fake_block(&marking_heap, 24, false);
			memset(slots, 0, sizeof(slots));
			store(slots + at, block, 0);
			root_range(slots, slots + sizeof(slots));
			marking_heap.blocks.words.unaligned = unaligned;
			mark();
			ck_assert_int_eq(fake_marked(&marking_heap, block),
			    at % W == 0 || unaligned);
			fake_heap_close(&marking_heap);
		}
	}
	marking_open_heap(_i, 4096);
}

/* Not one word more at either end of the range. */
TEST_LOOP(unaligned_ends, 0, FAKE_KINDS)
{
	char slots[6 * W] __attribute__((aligned(8)));
	size_t begin, end, at;
	void *block;

	for (begin = 0; begin < W; begin++) {
		for (end = 4 * W; end < 5 * W; end++) {
			for (at = 0; at <= 5 * W; at++) {
				marking_open_heap(_i, 4096);
				block = fake_block(&marking_heap, 24, false);
				memset(slots, 0, sizeof(slots));
				store(slots + at, block, 0);
				root_range(slots + begin, slots + end);
				marking_heap.blocks.words.unaligned = true;
				mark();
				ck_assert_int_eq(
				    fake_marked(&marking_heap, block),
				    at >= begin && at + W <= end);
				fake_heap_close(&marking_heap);
			}
		}
	}
	marking_open_heap(_i, 4096);
}

/* A word that lies across two pieces of a long block, and of a long root. */
TEST_LOOP(unaligned_across_pieces, 0, FAKE_KINDS)
{
	static char slots[3 * PIECE] __attribute__((aligned(8)));
	char *holder;
	void *block;
	size_t at;

	for (at = 2 * PIECE - 2 * W; at <= 2 * PIECE + 2 * W; at++) {
		marking_open_heap(_i, 4 * PIECE);
		holder = fake_block(&marking_heap, 3 * PIECE, false);
		block = fake_block(&marking_heap, 24, false);
		memset(holder, 0, 3 * PIECE);
		store(holder + at, block, 0);
		root_value(holder);
		marking_heap.blocks.words.unaligned = true;
		mark();
		ck_assert(fake_marked(&marking_heap, block));
		fake_heap_close(&marking_heap);

		marking_open_heap(_i, 4096);
		block = fake_block(&marking_heap, 24, false);
		memset(slots, 0, sizeof(slots));
		store(slots + at, block, 0);
		root_range(slots + 1, slots + sizeof(slots));
		marking_heap.blocks.words.unaligned = true;
		mark();
		ck_assert(fake_marked(&marking_heap, block));
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

/* .data and .bss are two mappings, and two roots. */
TEST_LOOP(unaligned_across_roots, 0, FAKE_KINDS)
{
	char slots[8 * W] __attribute__((aligned(8)));
	size_t at, gap;
	void *block;

	for (gap = 0; gap < 2; gap++) {
		for (at = 0; at <= 7 * W; at++) {
			marking_open_heap(_i, 4096);
			block = fake_block(&marking_heap, 24, false);
			memset(slots, 0, sizeof(slots));
			store(slots + at, block, 0);
			root_range(slots, slots + 4 * W);
			root_range(slots + 4 * W + gap, slots + 8 * W);
			marking_heap.blocks.words.unaligned = true;
			mark();
			ck_assert_int_eq(fake_marked(&marking_heap, block),
			    gap == 0 || at + W <= 4 * W || at >= 4 * W + gap);
			fake_heap_close(&marking_heap);
		}
	}
	/* Roots shorter than a word. */
	for (at = 0; at < W; at++) {
		marking_open_heap(_i, 4096);
		block = fake_block(&marking_heap, 24, false);
		store(slots, block, 0);
		root_range(slots, slots + at);
		root_range(slots + at, slots + W);
		marking_heap.blocks.words.unaligned = true;
		mark();
		ck_assert(fake_marked(&marking_heap, block));
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

/* Words of a vector register are values side by side. */
TEST_LOOP(unaligned_across_values, 0, FAKE_KINDS)
{
	char words[3 * W];
	size_t at, i;
	void *block;

	for (at = 0; at <= 2 * W; at++) {
		marking_open_heap(_i, 4096);
		block = fake_block(&marking_heap, 24, false);
		memset(words, 0, sizeof(words));
		store(words + at, block, 0);
		for (i = 0; i < 3; i++) {
			void *value;

			memcpy(&value, words + i * W, W);
			root_value(value);
		}
		marking_heap.blocks.words.unaligned = true;
		mark();
		ck_assert(fake_marked(&marking_heap, block));
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

TEST_LOOP(tags, 0, FAKE_KINDS)
{
	void *slot, *first, *second, *third;
	size_t masked;

	for (masked = 0; masked < 2; masked++) {
		marking_open_heap(_i, 4096);
		first = marking_node(3);
		second = marking_node(3);
		third = marking_node(3);
		store(&slot, first, TAG);
		store((char *)first + W, (char *)second + 5, 2 * TAG);
		root_range(&slot, &slot + 1);
		root_value((void *)((uintptr_t)third | TAG));
		marking_heap.blocks.words.tags = masked ? 0xfful << 56 : 0;
		mark();
		ck_assert_int_eq(fake_marked(&marking_heap, first), masked);
		ck_assert_int_eq(fake_marked(&marking_heap, second), masked);
		ck_assert_int_eq(fake_marked(&marking_heap, third), masked);
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

static struct mu_range candidates[8];
static size_t num_candidates;

static void
candidate(const void *block, size_t size)
{
	candidates[num_candidates++] =
	    (struct mu_range) { (uintptr_t)block, (uintptr_t)block + size };
}

static void
look_again(void)
{
	mark();
	ck_assert_int_eq(mu_mark_confirm(&marking_graph, candidates,
			     num_candidates, FAKE_NO_DEADLINE),
	    MU_OK);
	num_candidates = 0;
}

TEST_LOOP(only_candidates_stay_lost, 0, FAKE_KINDS)
{
	void *a, *b, *c;
	size_t size;

	marking_open_heap(_i, 4096);
	a = marking_node(3);
	b = marking_node(3);
	c = marking_node(3);
	size = fake_usable(&marking_heap, 3 * W);
	candidate(a, size);
	candidate(c, size - 1); /* a block of another size was there */
	look_again();
	ck_assert(!fake_marked(&marking_heap, a));
	ck_assert(fake_marked(&marking_heap, b));
	ck_assert(fake_marked(&marking_heap, c));
	ck_assert_uint_eq(marking_graph.num_excused, 2);
}

/* Wherever they lie: a candidate before and one behind the new block. */
TEST_LOOP(what_new_blocks_lead_to, 0, FAKE_KINDS)
{
	void **before, **fresh, **behind, **further;
	size_t size;

	marking_open_heap(_i, 4096);
	size = fake_usable(&marking_heap, 3 * W);
	before = marking_node(3);
	fresh = marking_node(3);
	behind = marking_node(3);
	further = marking_node(3);
	fresh[0] = before;
	fresh[1] = behind;
	behind[2] = further;
	candidate(before, size);
	candidate(behind, size);
	candidate(further, size);
	look_again();
	expect_leaks(0, 0);
}

TEST_LOOP(candidates_that_are_gone, 0, FAKE_KINDS)
{
	void **lost, *reachable;
	size_t size;

	marking_open_heap(_i, 4096);
	size = fake_usable(&marking_heap, 3 * W);
	reachable = marking_node(3);
	lost = marking_node(3);
	root_value(reachable);
	candidate((char *)reachable - 64, size); /* freed */
	candidate(reachable, size);              /* seen again */
	candidate(lost, size);
	candidate((char *)lost + 640, size);
	look_again();
	ck_assert(fake_marked(&marking_heap, reachable));
	ck_assert(!fake_marked(&marking_heap, lost));
	expect_leaks(1, size);
}

TEST_LOOP(no_candidates, 0, FAKE_KINDS)
{
	marking_open_heap(_i, 4096);
	marking_node(3);
	marking_node(5);
	look_again();
	expect_leaks(0, 0);
}

TEST_LOOP(no_time_to_look_again, 0, FAKE_KINDS)
{
	marking_open_heap(_i, 4096);
	marking_node(3);
	mark();
	ck_assert_int_eq(
	    mu_mark_confirm(&marking_graph, NULL, 0, 0), MU_ERR_TIMEOUT);
}

/* Executable memory counts at every byte, whatever the rule elsewhere is. */
TEST_LOOP(code_in_a_root, 0, FAKE_KINDS)
{
	static char slots[3 * PIECE] __attribute__((aligned(8)));
	static const size_t places[] = { 0, 1, 2, 3, 4, 5, 6, 7, PIECE - 9,
		PIECE - 8, PIECE - 5, PIECE - 1, 2 * PIECE - 3, 3 * PIECE - 9,
		3 * PIECE - 8 };
	size_t i, code;
	void *block;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		for (code = 0; code < 2; code++) {
			marking_open_heap(_i, 4096);
			block = fake_block(&marking_heap, 24, false);
			memset(slots, 0, sizeof(slots));
			store(slots + places[i], block, 0);
			root_range(slots, slots + sizeof(slots));
			marking_ranges[0].code = code;
			mark();
			ck_assert_int_eq(fake_marked(&marking_heap, block),
			    places[i] % W == 0 || code);
			fake_heap_close(&marking_heap);
		}
	}
	marking_open_heap(_i, 4096);
}

#ifdef __x86_64__
/* Memory that is not executable now is code if an instruction loads a block. */
TEST_LOOP(instructions_in_a_root, 0, FAKE_KINDS)
{
	static char slots[3 * PIECE] __attribute__((aligned(8)));
	static const size_t places[] = { 0, 1, 6, 7, 62, 63, 64, 127,
		PIECE - 11, PIECE - 10, PIECE - 9, PIECE - 8, PIECE - 2,
		PIECE - 1, PIECE, 2 * PIECE - 3, 3 * PIECE - 11,
		3 * PIECE - 10 };
	static const enum mu_root_kind kinds[] = { MU_ROOT_ANONYMOUS,
		MU_ROOT_GLOBALS, MU_ROOT_STACK, MU_ROOT_TLS };
	static const char loads[][3] = { "\x48\xb8", "\x49\xbf", "\x48\xc7" };
	size_t place, kind, load;
	void *block;
	char *at;

	for (place = 0; place < sizeof(places) / sizeof(*places); place++) {
		for (kind = 0; kind < 4; kind++) {
			for (load = 0; load < 3; load++) {
				marking_open_heap(_i, 4096);
				block = fake_block(&marking_heap, 24, false);
				memset(slots, 0, sizeof(slots));
				at = slots + places[place];
				memcpy(at, loads[load], 2);
				store(at + 2, block, 0);
				root_range(slots, slots + sizeof(slots));
				marking_ranges[0].kind = kinds[kind];
				mark();
				ck_assert_int_eq(
				    fake_marked(&marking_heap, block),
				    (places[place] + 2) % W == 0 ||
					(kind < 2 && load < 2));
				fake_heap_close(&marking_heap);
			}
		}
	}
	marking_open_heap(_i, 4096);
}
#endif

/* Operands of 32 bits, in code only, and where blocks have such addresses. */
TEST(halves_in_code)
{
	char slots[4 * W] __attribute__((aligned(8)));
	uint32_t half = 0x1234568;
	struct mu_range range = { half, half + 24 };
	size_t at, code;

	for (at = 0; at <= sizeof(slots) - sizeof(half); at++) {
		for (code = 0; code < 2; code++) {
			marking_open_heap(FAKE_LISTED, 4096);
			ck_assert_int_eq(mu_blocks_add(&marking_heap.blocks,
					     range, marking_heap.pool, false),
			    MU_OK);
			memset(slots, 0xcc, sizeof(slots));
			memcpy(slots + at, &half, sizeof(half));
			root_range(slots, slots + sizeof(slots));
			marking_ranges[0].code = code;
			mark();
			expect_leaks(code ? 0 : 1, code ? 0 : 24);
			fake_heap_close(&marking_heap);
		}
	}
	marking_open_heap(_i, 4096);
}

SUITE(.teardown = marking_teardown);
