/* Which words may be pointers, and the array that keeps them. */

#include "ptrace/live/registers.h"
#include "tests/support/suite.h"

static struct mu_arena arena;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 20);
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

TEST(plausible)
{
	ck_assert(!mu_word_plausible(0));
	ck_assert(!mu_word_plausible(1));
	ck_assert(!mu_word_plausible(0xffff));
	ck_assert(mu_word_plausible(0x10000));
	ck_assert(mu_word_plausible(0x10001)); /* interior pointers count */
	ck_assert(mu_word_plausible(0x55d0c8a012a0));
	ck_assert(mu_word_plausible(0x7fffffffffff));
	ck_assert(mu_word_plausible(0x00ffffffffffffff)); /* five levels */
#if defined(__x86_64__)
	ck_assert(!mu_word_plausible(0x0100000000000000));
	ck_assert(!mu_word_plausible(0xffff800000000000));
	ck_assert(!mu_word_plausible(UINTPTR_MAX));
#else
	ck_assert(mu_word_plausible(0x0b00ffff12345670)); /* a tagged one */
#endif
}

TEST(filter)
{
	uintptr_t words[] = { 0, 0x55d0c8a012a0, 0x246, 0x33, 0x7ffc00001000,
		0x10, 0x55d0c8a012a0 };

	uint16_t regnos[7];

	ck_assert_uint_eq(mu_words_keep_plausible(words, 7, regnos, 100), 3);
	ck_assert_uint_eq(words[0], 0x55d0c8a012a0);
	ck_assert_uint_eq(words[1], 0x7ffc00001000);
	ck_assert_uint_eq(words[2], 0x55d0c8a012a0);
	ck_assert_uint_eq(regnos[0], 101);
	ck_assert_uint_eq(regnos[1], 104);
	ck_assert_uint_eq(regnos[2], 106);
	ck_assert_uint_eq(mu_words_keep_plausible(words, 0, NULL, 0), 0);
	ck_assert_uint_eq(mu_words_keep_plausible(NULL, 0, NULL, 0), 0);
}

TEST(words_grow)
{
	struct mu_words words = { .arena = &arena };
	uintptr_t i;

	for (i = 0; i < 5000; i++)
		ck_assert(mu_words_add(&words, i));
	ck_assert_uint_eq(words.count, 5000);
	for (i = 0; i < 5000; i++)
		ck_assert_uint_eq(words.words[i], i);
	ck_assert(!mu_words_reserve(&words, SIZE_MAX));
	ck_assert(!mu_words_reserve(&words, SIZE_MAX / 8));
	ck_assert_uint_eq(words.count, 5000);
	ck_assert_uint_eq(words.words[4999], 4999);
}

SUITE(.setup = setup, .teardown = teardown);
