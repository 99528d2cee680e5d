/*
 * Which mappings count as emptied in a forked image.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heapwalk/wiped.h"

static bool
parse(const char *text)
{
	return mu_wiped_parse(text, strlen(text));
}

START_TEST(flags)
{
	ck_assert(parse("VmFlags: rd wr mr mw me ac wf sd \n"));
	ck_assert(parse("Size: 4 kB\nVmFlags: rd\nVmFlags: wf\n"));
	ck_assert(!parse("VmFlags: rd wr mr mw me ac sd \n"));
	ck_assert(!parse("VmFlags: rd wf dp\n"));
	ck_assert(!parse("7f00-7f10 rw-p 00 00:00 0 /a wf b\n"));
	ck_assert(!parse("VmFlags: rd wf"));
	ck_assert(!parse("VmFlags:\nVmFlags: w\n\n wf\n"));
	ck_assert(!parse(""));
}
END_TEST

START_TEST(of_this_process)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_assert(!mu_wiped_any());
	ck_assert_int_eq(madvise(page, 4096, MADV_WIPEONFORK), 0);
	ck_assert(mu_wiped_any());
	munmap(page, 4096);
	ck_assert(!mu_wiped_any());
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("wiped");
	TCase *wiped = tcase_create("Wiped");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(wiped, flags);
	tcase_add_test(wiped, of_this_process);
	suite_add_tcase(suite, wiped);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
