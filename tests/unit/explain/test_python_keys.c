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

/* The index has a byte for each place up to 255 of them. */
TEST(indices)
{
	const uint64_t places[] = { 128, 256, 32768, 65536 };
	const size_t bytes[] = { 1, 2, 2, 4 };
	struct mu_python_keys keys;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const uint64_t head[] = { 1, places[i], 0x401000,
			places[i] * 2 / 3, 0 };

		ck_assert(mu_python_keys_head(head, &keys));
		ck_assert_uint_eq(keys.first, 40 + places[i] * bytes[i]);
		ck_assert_uint_eq(
		    keys.bytes, keys.first + places[i] * 2 / 3 * 24);
	}
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

#define AT ((uintptr_t)0x1000)

TEST(keys)
{
	struct mu_python_class class = {
		.refcnt = 1, .basicsize = 40, .flags = 1 << 28 | 1 << 12
	};
	uintptr_t text[MU_PYTHON_KEY_WORDS] = { 1, 0, 5, 0, 0x64,
		0x6f6c6c6568 };
	struct mu_python_key key;

	ck_assert(mu_python_key_read(&class, AT, text, &key));
	ck_assert_int_eq(key.kind, MU_PYTHON_KEY_TEXT);
	ck_assert_uint_eq(key.length, 5);
	ck_assert_uint_eq(key.letter, 1);
	ck_assert_uint_eq(key.at, 40);
	text[5] = 0;
	ck_assert(mu_python_key_read(&class, AT, text, &key));
	ck_assert_uint_eq(key.at, 48);
	text[5] = 0x7f76016c7b40; /* until 3.11, the same in wide letters */
	ck_assert(mu_python_key_read(&class, AT, text, &key));
	ck_assert_uint_eq(key.at, 48);
	text[4] = 0x44; /* its letters are elsewhere */
	ck_assert(!mu_python_key_read(&class, AT, text, &key));
	text[4] = 0x6c; /* letters of three bytes */
	ck_assert(!mu_python_key_read(&class, AT, text, &key));
	text[4] = 0x64;
	text[2] = UINT64_MAX;
	ck_assert(!mu_python_key_read(&class, AT, text, &key));
	class.flags = 1 << 28;
	text[2] = 5;
	ck_assert(!mu_python_key_read(&class, AT, text, &key));
}

/* Where the letters are if they are not all ASCII. */
TEST_LOOP(wide, 0, 5)
{
	static const struct {
		uintptr_t words[4];
		size_t at;
	} all[] = {
		{ { 0, 0, 0, 0 }, 72 },
		{ { 0, 0, 'a', 'a' }, 56 },
		{ { 0, 5, 0x2000, 0 }, 72 },
		{ { 5, 0x2000, 'a', 'a' }, 56 },
		{ { AT + 72, 0, 0, 2 }, 72 },
	};
	struct mu_python_class class = {
		.refcnt = 1, .basicsize = 40, .flags = 1 << 28 | 1 << 12
	};
	uintptr_t text[MU_PYTHON_KEY_WORDS] = { 1, 0, 5, 0, 0x28 };
	struct mu_python_key key;

	memcpy(text + 5, all[_i].words, sizeof(all[_i].words));
	ck_assert(mu_python_key_read(&class, AT, text, &key));
	ck_assert_uint_eq(key.letter, 2);
	ck_assert_uint_eq(key.at, all[_i].at);
}

TEST(tuples)
{
	struct mu_python_class class = {
		.refcnt = 1, .basicsize = 24, .flags = 1 << 26 | 1 << 12
	};
	uintptr_t tuple[MU_PYTHON_KEY_WORDS] = { 1, 0, 2 };
	struct mu_python_key key;

	ck_assert(mu_python_key_read(&class, AT, tuple, &key));
	ck_assert_int_eq(key.kind, MU_PYTHON_KEY_TUPLE);
	ck_assert_uint_eq(key.at, 24);
	ck_assert_uint_eq(key.length, 2);
	tuple[2] = UINT64_MAX;
	ck_assert(!mu_python_key_read(&class, AT, tuple, &key));
	class.flags = 1 << 12;
	tuple[2] = 2;
	ck_assert(!mu_python_key_read(&class, AT, tuple, &key));
}

TEST(numbers)
{
	static const struct {
		uint64_t size, digits;
		int64_t number;
	} some[] = { { 0, 0, 0 }, { 1, 7, 7 }, { UINT64_MAX, 7, -7 },
		{ 8, 7, 7 }, { 10, 7, -7 }, { 1, 0, 0 },
		{ 1, 7 | 9ull << 32, 7 }, { 2, 7 | 9ull << 32, 9663676423 },
		{ UINT64_MAX - 1, 7 | 9ull << 32, -9663676423 },
		{ 16, 7 | 9ull << 32, 9663676423 },
		{ 18, 7 | 9ull << 32, -9663676423 } };
	struct mu_python_class class = {
		.refcnt = 1, .basicsize = 24, .flags = 1 << 24 | 1 << 12
	};
	uintptr_t object[MU_PYTHON_KEY_WORDS] = { 1 };
	struct mu_python_key key;
	size_t i;

	for (i = 0; i < sizeof(some) / sizeof(*some); i++) {
		object[2] = some[i].size;
		object[3] = some[i].digits;
		ck_assert(mu_python_key_read(&class, AT, object, &key));
		ck_assert_int_eq(key.kind, MU_PYTHON_KEY_NUMBER);
		ck_assert_int_eq(key.number, some[i].number);
	}
	object[2] = 3; /* digits */
	ck_assert(!mu_python_key_read(&class, AT, object, &key));
	object[2] = 24;
	ck_assert(!mu_python_key_read(&class, AT, object, &key));
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
