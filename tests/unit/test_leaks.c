/*
 * Entries with the same backtrace become one; the heaviest come first.
 */
#include <check.h>

#include "heapwalk/leaks.h"
#include "tests/support/suite.h"

static struct mu_leak
leak_with(uintptr_t begin, size_t size, size_t referenced, size_t num_frames)
{
	struct mu_leak leak = { .range = { begin, begin + size },
		.referenced_count = referenced,
		.referenced_size = 10 * referenced,
		.total_size = size + 10 * referenced,
		.num_frames = num_frames };
	size_t i;

	for (i = 0; i < num_frames; i++)
		leak.frames[i] = 0x1000 + i;
	return leak;
}

START_TEST(mu76_merge)
{
	struct mu_leak all[] = { leak_with(0x500, 16, 1, 3),
		leak_with(0x400, 40, 0, 2), leak_with(0x300, 32, 2, 3),
		leak_with(0x200, 24, 0, 3), leak_with(0x100, 1000, 0, 1) };
	size_t count = 5;

	all[3].frames[2]++;
	mu_leaks_merge(all, &count);
	ck_assert_uint_eq(count, 4);
	mu_leaks_sort(all, count);
	ck_assert_uint_eq(all[0].range.begin, 0x100);
	ck_assert_uint_eq(all[1].range.begin, 0x300);
	ck_assert_uint_eq(all[1].range.end, 0x320);
	ck_assert_uint_eq(all[1].referenced_count, 2);
	ck_assert_uint_eq(all[1].similar_count, 1);
	ck_assert_uint_eq(all[1].similar_size, 16);
	ck_assert_uint_eq(all[1].similar_referenced_count, 1);
	ck_assert_uint_eq(all[1].similar_referenced_size, 10);
	ck_assert_uint_eq(all[1].total_size, 32 + 20 + 16 + 10);
	ck_assert_uint_eq(all[2].range.begin, 0x400);
	ck_assert_uint_eq(all[3].range.begin, 0x200);
	ck_assert_uint_eq(all[3].similar_count, 0);
}
END_TEST

START_TEST(mu76_no_frames_no_merge)
{
	struct mu_leak all[] = { leak_with(0x100, 16, 0, 0),
		leak_with(0x200, 16, 0, 0), leak_with(0x300, 16, 0, 0) };
	size_t count = 3;

	mu_leaks_merge(all, &count);
	ck_assert_uint_eq(count, 3);
}
END_TEST

/* Merging makes a heavier entry than any of its parts. */
START_TEST(mu77_sort_after_merge)
{
	struct mu_leak all[] = { leak_with(0x100, 100, 0, 1),
		leak_with(0x200, 60, 0, 2), leak_with(0x300, 60, 0, 2),
		leak_with(0x400, 60, 0, 2) };
	size_t count = 4;

	mu_leaks_merge(all, &count);
	mu_leaks_sort(all, count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(all[0].range.begin, 0x200);
	ck_assert_uint_eq(all[0].total_size, 180);
	ck_assert_uint_eq(all[0].similar_count, 2);
}
END_TEST

START_TEST(mu78_first_16_frames)
{
	struct mu_leak all[] = { leak_with(0x100, 16, 0, 16),
		leak_with(0x200, 16, 0, 16), leak_with(0x300, 16, 0, 16) };
	size_t count = 3;

	all[1].frames[15]++;
	mu_leaks_merge(all, &count);
	ck_assert_uint_eq(count, 2);
	mu_leaks_sort(all, count);
	ck_assert_uint_eq(all[0].similar_count, 1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("leaks");
	TCase *merging = tcase_create("Merging");

	tcase_add_test(merging, mu76_merge);
	tcase_add_test(merging, mu76_no_frames_no_merge);
	tcase_add_test(merging, mu77_sort_after_merge);
	tcase_add_test(merging, mu78_first_16_frames);
	suite_add_tcase(suite, merging);

	return suite_run(suite);
}
