/*
 * Folding follows the words that marking follows (use_unaligned,
 * pointer_mask).
 */
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define TAG (0x12ul << 56)

static void
store(void *block, size_t at, const void *pointer, uintptr_t tag)
{
	uintptr_t word = (uintptr_t)pointer | tag;

	memcpy((char *)block + at, &word, sizeof(word));
}

/* An owner, and a ring of two that it leads to. */
TEST_LOOP(unaligned_edges, 0, FAKE_KINDS)
{
	void **owner, **first, **second;
	size_t unaligned, at;

	for (at = 0; at <= 2 * W; at++) {
		for (unaligned = 0; unaligned < 2; unaligned++) {
			folding_open_heap(_i, 4096);
			owner = folding_node(7);
			first = folding_node(3);
			second = folding_node(3);
			store(owner, at, first, 0);
			store(first, 3, second, 0);
			store(second, 5, first, 0);
			folding_heap.blocks.words.unaligned = unaligned;
			fold();
			if (unaligned) {
				expect_totals(3, bytes(7) + 2 * bytes(3), 1);
				expect_entry(
				    0, owner, bytes(7), 2, 2 * bytes(3));
			} else {
				ck_assert_uint_eq(folding_leaks.entries.count,
				    at % W == 0 ? 2 : 3);
			}
			fake_heap_close(&folding_heap);
		}
	}
	folding_open_heap(_i, 4096);
}

TEST_LOOP(tagged_edges, 0, FAKE_KINDS)
{
	void **owner, **child;
	size_t masked;

	for (masked = 0; masked < 2; masked++) {
		folding_open_heap(_i, 4096);
		owner = folding_node(7);
		child = folding_node(3);
		store(owner, W, (char *)child + 9, TAG);
		folding_heap.blocks.words.tags = masked ? 0xfful << 56 : 0;
		fold();
		expect_totals(2, bytes(7) + bytes(3), masked ? 1 : 2);
		expect_entry(0, owner, bytes(7), masked, masked ? bytes(3) : 0);
		fake_heap_close(&folding_heap);
	}
	folding_open_heap(_i, 4096);
}

SUITE(.teardown = folding_teardown);
