/*
 * lib/view/sorter.c, code.h: any number of items by their keys, in memory, in a
 * file, and where no file can be written.
 */
#include "lib/view/sorter.h"

#include <sys/resource.h>
#include <unistd.h>

#include "lib/view/code.h"
#include "lib/view/saturate.h"
#include "tests/support/suite.h"

#define ITEMS ((size_t)50000)
#define KEYS ((uint64_t)7919)

static struct mu_sorter sorter;
static struct mu_why why;

static void
tear_down(void)
{
	mu_sorter_release(&sorter);
}

static void
add(uint64_t key, uint64_t a, uint64_t b)
{
	unsigned char bytes[MU_CODE_MAX], *end = mu_code_put(bytes, key);

	ck_assert(mu_sorter_add(&sorter, bytes, (size_t)(end - bytes), a, b));
}

/* Numbers up to KEYS, each as often as the others; read twice. */
static void
sort_many(void)
{
	struct mu_sorted item;
	uint64_t i, key;
	size_t times;

	for (i = 0; i < ITEMS / KEYS * KEYS; i++)
		add(i * 104729 % KEYS, 1, i);
	for (times = 0; times < 2; times++) {
		mu_sorter_begin(&sorter);
		for (i = 0; mu_sorter_next(&sorter, &item); i++) {
			mu_code_take(item.key, &key);
			ck_assert_uint_eq(key, i);
			ck_assert_uint_eq(item.values[0], ITEMS / KEYS);
			ck_assert_uint_ge(item.values[1], ITEMS / KEYS);
		}
		ck_assert_uint_eq(i, KEYS);
		ck_assert_int_eq(mu_sorter_end(&sorter, &why), MU_OK);
	}
}

TEST(in_memory)
{
	sort_many();
	ck_assert(!sorter.has_file);
}

TEST(in_a_file)
{
	sorter.room = 4096;
	sort_many();
	ck_assert(sorter.has_file);
	ck_assert_uint_gt(sorter.num_runs, 10);
	ck_assert_uint_le(sorter.max, 4096);
	ck_assert_uint_eq(sorter.room, 4096);
}

/* Equal keys do not fill the room. */
TEST(merged_before_they_are_written)
{
	struct mu_sorted item;
	size_t i;

	sorter.room = 4096;
	for (i = 0; i < ITEMS; i++)
		add(i % 20, 1, 0);
	ck_assert(!sorter.has_file);
	ck_assert_uint_le(sorter.max, 4096);
	mu_sorter_begin(&sorter);
	for (i = 0; mu_sorter_next(&sorter, &item); i++)
		ck_assert_uint_eq(item.values[0], ITEMS / 20);
	ck_assert_uint_eq(i, 20);
}

/* Items stay in memory, and so they do when the disk is full. */
TEST(without_a_file)
{
	struct rlimit limit, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit) { 0, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	sorter.room = 4096;
	sort_many();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert(!sorter.has_file);
	ck_assert_uint_gt(sorter.room, 4096);
}

TEST(a_file_that_cannot_be_read)
{
	struct mu_sorted item;
	size_t i;

	sorter.room = 4096;
	for (i = 0; i < ITEMS; i++)
		add(i, 1, 0);
	ck_assert(sorter.has_file);
	ck_assert_int_eq(ftruncate(sorter.fd, sorter.end / 2), 0);
	mu_sorter_begin(&sorter);
	for (i = 0; mu_sorter_next(&sorter, &item); i++)
		;
	ck_assert_uint_lt(i, ITEMS);
	ck_assert_int_eq(mu_sorter_end(&sorter, &why), MU_ERR_NO_MEMORY);
	ck_assert_ptr_nonnull(strstr(why.text, "cannot read a temporary file"));
	/* What failed once is not forgotten. */
	mu_sorter_begin(&sorter);
	ck_assert(!mu_sorter_next(&sorter, &item));
	ck_assert_int_eq(mu_sorter_end(&sorter, &why), MU_ERR_NO_MEMORY);
}

TEST(nothing)
{
	struct mu_sorted item;

	mu_sorter_begin(&sorter);
	ck_assert(!mu_sorter_next(&sorter, &item));
	ck_assert_int_eq(mu_sorter_end(&sorter, &why), MU_OK);
}

TEST(longest_and_empty_keys)
{
	static unsigned char key[MU_SORTER_KEY_MAX];
	struct mu_sorted item;
	size_t i;

	sorter.room = 3 * MU_SORTER_KEY_MAX;
	for (i = 0; i < 64; i++) {
		key[MU_SORTER_KEY_MAX - 1] = (unsigned char)(i * 5);
		ck_assert(mu_sorter_add(&sorter, key, sizeof(key), 1, i));
	}
	ck_assert(mu_sorter_add(&sorter, key, 0, 2, 2));
	mu_sorter_begin(&sorter);
	ck_assert(mu_sorter_next(&sorter, &item));
	ck_assert_uint_eq(item.length, 0);
	for (i = 0; mu_sorter_next(&sorter, &item); i++)
		ck_assert_uint_eq(item.length, sizeof(key));
	ck_assert_uint_eq(i, 64);
}

static void
least(uint64_t into[2], const uint64_t from[2])
{
	into[0] = into[0] < from[0] ? into[0] : from[0];
	into[1] = mu_saturated_add(into[1], from[1]);
}

TEST(merged_as_the_caller_says)
{
	struct mu_sorted item;
	size_t i;

	sorter.room = 4096;
	sorter.merge = least;
	for (i = 0; i < ITEMS; i++)
		add(i % 1000, i, UINT64_MAX);
	mu_sorter_begin(&sorter);
	for (i = 0; mu_sorter_next(&sorter, &item); i++) {
		ck_assert_uint_eq(item.values[0], i);
		ck_assert_uint_eq(item.values[1], UINT64_MAX);
	}
	ck_assert_uint_eq(i, 1000);
}

TEST(codes_keep_the_order_of_numbers)
{
	static const uint64_t numbers[] = { 0, 1, 127, 128, 129, 16383, 16384,
		2097151, 2097152, 268435455, 268435456, UINT32_MAX,
		(uint64_t)1 << 35, ((uint64_t)1 << 49) - 1, (uint64_t)1 << 49,
		((uint64_t)1 << 56) - 1, (uint64_t)1 << 56, UINT64_MAX - 1,
		UINT64_MAX };
	unsigned char before[MU_CODE_MAX] = { 0 }, code[MU_CODE_MAX];
	const unsigned char *end;
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		memset(code, 0, sizeof(code));
		end = mu_code_put(code, numbers[i]);
		ck_assert_ptr_eq(mu_code_take(code, &value), end);
		ck_assert_uint_eq(value, numbers[i]);
		ck_assert(i == 0 || memcmp(before, code, sizeof(code)) < 0);
		memcpy(before, code, sizeof(code));
	}
}

SUITE(.teardown = tear_down);
