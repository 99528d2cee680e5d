/*
 * Find the words that lie within a range: every version that this CPU can run
 * gives the same result as one word at a time.
 */
#include "heapwalk/graph/words.h"

#include "mu/arch/words.h"
#include "tests/support/suite.h"

#define W sizeof(uintptr_t)

static uint64_t
one_by_one(const char *view, size_t count, uintptr_t lowest, uintptr_t width)
{
	uint64_t found = 0;
	uintptr_t word;
	size_t i;

	for (i = 0; i < count; i++) {
		memcpy(&word, view + i * W, W);
		if (word >= lowest && word - lowest < width)
			found |= 1ull << i;
	}
	return found;
}

/* A value at a limit of the range, next to it, or anywhere. */
static uintptr_t
any_word(uintptr_t lowest, uintptr_t width)
{
	switch (rand() % 5) {
	case 0:
		return lowest + (uintptr_t)(rand() % 3) - 1;
	case 1:
		return lowest + width + (uintptr_t)(rand() % 3) - 1;
	case 2:
		return lowest + (uintptr_t)rand() % (width | 1);
	case 3:
		return 0;
	default:
		return (uintptr_t)rand() << 33 ^ (uintptr_t)rand();
	}
}

TEST_LOOP(words_by_every_version, 0, 3)
{
	static const struct {
		uintptr_t lowest, width;
	} ranges[] = { { 0x555555554000, 1 << 20 }, { 0x7f0000000000, 1 },
		{ 16, 1ul << 46 }, { 0x1000, 0 }, { 0, UINTPTR_MAX },
		{ 1ul << 63, 1ul << 62 }, { UINTPTR_MAX - 64, 64 } };
	mu_words_filter *filter = mu_words_version((unsigned)_i);
	char bytes[(MU_WORDS_MAX + 1) * W];
	size_t round, count, i, shift;
	uintptr_t word, lowest, width;

	if (filter == NULL) {
		fprintf(stderr, "SKIPPED: not on this CPU\n");
		return;
	}
	srand(1);
	for (round = 0; round < 20000; round++) {
		lowest = ranges[round % 7].lowest;
		width = ranges[round % 7].width;
		count = (size_t)rand() % (MU_WORDS_MAX + 1);
		shift = (size_t)rand() % W;
		for (i = 0; i < count; i++) {
			word = any_word(lowest, width);
			memcpy(bytes + shift + i * W, &word, W);
		}
		ck_assert_uint_eq(filter(bytes + shift, count, lowest, width),
		    one_by_one(bytes + shift, count, lowest, width));
	}
}

#ifdef __x86_64__
static size_t
operand_from(const char *view, size_t size, size_t at)
{
	const unsigned char *bytes = (const void *)view;

	for (; at + 2 <= size; at++)
		if (bytes[at] >= 0x48 && bytes[at] <= 0x4f &&
		    bytes[at + 1] >= 0xb8 && bytes[at + 1] <= 0xbf)
			return at + 2;
	return size;
}

TEST(operands_one_by_one)
{
	static const unsigned char values[] = { 0x47, 0x48, 0x4f, 0x50, 0xb7,
		0xb8, 0xbf, 0xc0 };
	char bytes[200];
	size_t round, size, i, at;

	srand(1);
	for (round = 0; round < 20000; round++) {
		size = (size_t)rand() % sizeof(bytes);
		memset(bytes, 0, sizeof(bytes));
		for (i = (size_t)rand() % 8; i > 0; i--) {
			at = (size_t)rand() % (sizeof(bytes) - 1);
			bytes[at] = (char)values[rand() % 8];
			bytes[at + 1] = (char)values[rand() % 8];
		}
		for (at = 0; at <= size; at = i) {
			i = mu_arch_operand(bytes, size, at);
			ck_assert_uint_eq(i, operand_from(bytes, size, at));
			if (i >= size)
				break;
		}
	}
}

/* The same for operands of 32 bits whose last byte is LOW to HIGH. */
static size_t
short_from(const char *view, size_t size, size_t at, unsigned char low,
    unsigned char high)
{
	const unsigned char *bytes = (const void *)view;

	for (; at + 5 <= size; at++)
		if (((bytes[at] >= 0xb8 && bytes[at] <= 0xbf) ||
			bytes[at] == 0x68 ||
			(bytes[at] >= 0xc0 && bytes[at] <= 0xc7 && at > 0 &&
			    bytes[at - 1] == 0xc7)) &&
		    bytes[at + 4] >= low && bytes[at + 4] <= high)
			return at + 1;
	return size;
}

/* Near the end those with another last byte are found, too. */
TEST(short_operands_one_by_one)
{
	static const unsigned char values[] = { 0x67, 0x68, 0xb7, 0xb8, 0xbf,
		0xc0, 0xc6, 0xc7, 0xc8, 1, 2, 4 };
	char bytes[200];
	size_t round, size, i, at, found;

	srand(2);
	for (round = 0; round < 20000; round++) {
		size = (size_t)rand() % sizeof(bytes);
		memset(bytes, 0, sizeof(bytes));
		for (i = (size_t)rand() % 60; i > 0; i--)
			bytes[rand() % (int)sizeof(bytes)] =
			    (char)values[rand() % 12];
		for (at = 0; at + 5 <= size; at = i) {
			i = found = short_from(bytes, size, at, 1, 2);
			do
				at = mu_arch_short_operand(
				    bytes, size, at, 1, 2);
			while (at < found);
			ck_assert_uint_eq(at, found);
			if (i >= size)
				break;
		}
	}
}
#endif

TEST(words_has_a_version)
{
	ck_assert_ptr_nonnull(mu_words_version(0));
	ck_assert_ptr_null(mu_words_version(3));
	ck_assert_ptr_nonnull(mu_words_choose());
}
