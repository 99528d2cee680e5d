/*
 * lib/helpers/image_drop.c: at its end an image gives back what is the
 * program's, and nothing of ours.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/helpers/image_drop.h"
#include "tests/support/pthread_workers.h"

#define MIB ((size_t)1 << 20)

static struct mu_mapping mappings[4];
static struct mu_pass pass;

static char *
add(size_t size, bool writable, bool shared)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	size_t i;

	ck_assert_ptr_ne(at, MAP_FAILED);
	for (i = 0; i < size; i += 4096)
		at[i] = 1;
	mappings[pass.snap.num_mappings++] = (struct mu_mapping) {
		.range = { (uintptr_t)at, (uintptr_t)at + size },
		.readable = true,
		.writable = writable,
		.shared = shared,
		.name = "",
	};
	return at;
}

static size_t
left(const char *at, size_t size)
{
	size_t i, pages = 0;

	for (i = 0; i < size; i += 4096)
		pages += at[i] != 0;
	return pages;
}

START_TEST(theirs_only)
{
	struct mu_workers workers = pthread_workers(2);
	struct mu_range own;
	char *big, *ours, *closed, *shared;

	pass.snap.mappings = mappings;
	pass.snap.num_mappings = 0;
	pass.snap.workers = _i == 0 ? &workers : NULL;
	big = add(100 * MIB + 4096, true, false);
	ours = add(8 * MIB, true, false);
	closed = add(8 * MIB, false, false);
	shared = add(8 * MIB, true, true);
	own.begin = (uintptr_t)ours + MIB;
	own.end = own.begin + 4096;
	pass.snap.own = &own;
	pass.snap.num_own = 1;
	mu_image_drop(&pass);
	/* One thread leaves it to the exit. */
	ck_assert_uint_eq(
	    left(big, 100 * MIB + 4096), _i == 0 ? 0 : 100 * MIB / 4096 + 1);
	ck_assert_uint_eq(left(ours, 8 * MIB), 2048);
	ck_assert_uint_eq(left(closed, 8 * MIB), 2048);
	ck_assert_uint_eq(left(shared, 8 * MIB), 2048);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("image_drop");
	TCase *tc = tcase_create("image_drop");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, theirs_only, 0, 2);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
