/* Tables of dictionaries of CPython, and what their keys are. */
#include <string.h>

#include "lib/types/python_keys.h"
#include "lib/types/python_object.h"
#include "tests/support/suite.h"

/* Of 3.11 and later: 8 places, entries of two words, 2 of 5 in use. */
static const uint64_t texts[] = { 1, 0x010303, 3, 2 };

/* Of 3.10 and before: 8 places of a byte, entries of three words. */
static const uint64_t old[] = { 1, 8, 0x401000, 3, 2 };

static bool
reads(const uint64_t *words, size_t count, size_t size,
    struct mu_python_keys *keys)
{
	uint64_t block[64] = { 0 };

	memcpy(block, words, count * sizeof(*words));
	return mu_python_keys_read(block, size, keys);
}

TEST(tables)
{
	struct mu_python_keys keys;

	ck_assert(reads(texts, 4, 120, &keys));
	ck_assert_uint_eq(keys.uses, 1);
	ck_assert_uint_eq(keys.first, 40);
	ck_assert_uint_eq(keys.stride, 16);
	ck_assert_uint_eq(keys.key, 0);
	ck_assert_uint_eq(keys.count, 2);
	ck_assert(!keys.shared);
	ck_assert(reads(old, 5, 168, &keys));
	ck_assert_uint_eq(keys.first, 48);
	ck_assert_uint_eq(keys.stride, 24);
	ck_assert_uint_eq(keys.key, 8);
}

/* Numbers that contradict each other, or the block. */
TEST_LOOP(no_tables, 0, 9)
{
	static const struct {
		uint64_t words[4];
		size_t size;
	} bad[] = {
		{ { 1, 0x010303, 3, 2 }, 104 },
		{ { 1, 0x010303, 3, 2 }, 152 },
		{ { 1, 0x010303, 3, 2 }, 31 },
		{ { 1, 0x030303, 3, 2 }, 120 },
		{ { 1, 0x010302, 3, 2 }, 120 },
		{ { 1, 0x010203, 3, 2 }, 120 },
		{ { 1, 0x010303, 3, 3 }, 120 },
		{ { 1, 0x010303, 3, UINT64_MAX }, 120 },
		{ { 1, 0x01ffff, UINT64_MAX, 0 }, 120 },
	};
	struct mu_python_keys keys;

	ck_assert(!reads(bad[_i].words, 4, bad[_i].size, &keys));
}

TEST(keys)
{
	struct mu_python_class class = {
		.refcnt = 1, .basicsize = 40, .flags = 1 << 28 | 1 << 12
	};
	uint64_t text[6] = { 1, 0, 5, 0, 0x64, 0x6c6c6568 };
	struct mu_python_key key;

	ck_assert(mu_python_key_read(&class, text, &key));
	ck_assert(!key.is_number);
	ck_assert_uint_eq(key.length, 5);
	ck_assert_uint_eq(key.letters, 40);
	text[5] = 0;
	ck_assert(mu_python_key_read(&class, text, &key));
	ck_assert_uint_eq(key.letters, 48);
	text[4] = 0x24; /* no ASCII */
	ck_assert(!mu_python_key_read(&class, text, &key));
	text[4] = 0x64;
	text[2] = UINT64_MAX;
	ck_assert(!mu_python_key_read(&class, text, &key));
	class.flags = 1 << 28;
	text[2] = 5;
	ck_assert(!mu_python_key_read(&class, text, &key));
}

TEST(numbers)
{
	static const struct {
		uint64_t size, digit;
		int64_t number;
	} some[] = { { 0, 0, 0 }, { 1, 7, 7 }, { UINT64_MAX, 7, -7 },
		{ 8, 7, 7 }, { 10, 7, -7 }, { 1, 0, 0 } };
	struct mu_python_class class = {
		.refcnt = 1, .basicsize = 24, .flags = 1 << 24 | 1 << 12
	};
	struct mu_python_key key;
	size_t i;

	for (i = 0; i < sizeof(some) / sizeof(*some); i++) {
		uint64_t object[6] = { 1, 0, some[i].size, some[i].digit };

		ck_assert(mu_python_key_read(&class, object, &key));
		ck_assert(key.is_number);
		ck_assert_int_eq(key.number, some[i].number);
	}
	uint64_t large[6] = { 1, 0, 3, 1 };

	ck_assert(!mu_python_key_read(&class, large, &key));
}

TEST(plain)
{
	uint64_t text[8] = { 1, 0, 5, 0, 0x64, 0 };

	ck_assert(mu_python_is_plain("bytes", text, 40));
	ck_assert(mu_python_is_plain("str", text, 56));
	ck_assert(!mu_python_is_plain("str", text, 24));
	ck_assert(!mu_python_is_plain("list", text, 56));
	text[4] = 0x44; /* its letters are elsewhere */
	ck_assert(!mu_python_is_plain("str", text, 56));
}
