/*
 * Check's tests fail for what they lost, in fork mode and with CK_NOFORK:
 *
 *	#include <memunreachable/check.h>
 *	tcase = tcase_create("parser");
 *	memunreachable_tcase_no_leaks(tcase);
 *
 * This file includes <check.h>. A failure names the line of START_TEST if the
 * test was compiled with this header.
 */
#ifndef MEMUNREACHABLE_CHECK_H
#define MEMUNREACHABLE_CHECK_H

#include <check.h>
#include <memunreachable/test_frames.h>

#if CHECK_MAJOR_VERSION == 0 && CHECK_MINOR_VERSION < 13
#error "memunreachable/check.h needs Check 0.13 or later"
#endif

/* Check's messages end at 4096 bytes, with place and lengths (CK_MAX_MSG_SIZE).
 */
#define MEMUNREACHABLE_CHECK_TEXT "%.3500s"

/* Fail if the test has lost something so far. */
#define ck_assert_no_leaks() MEMUNREACHABLE_NO_LEAKS(memunreachable_ck_fail_)
#define memunreachable_ck_fail_(text)                            \
	_ck_assert_failed(__FILE__, __LINE__, "memory was lost", \
	    MEMUNREACHABLE_CHECK_TEXT, text)

/* One for all files of a program. */
struct memunreachable_check_test {
	const char *file;
	int line;
	bool left; /* by a failure, or it still runs */
	bool next; /* the last test was checked, in this process */
	struct memunreachable_frames frames;
};
__attribute__((weak)) struct memunreachable_check_test memunreachable_check_now;

#undef START_TEST
#define START_TEST(name)                                                \
	static void name##_memunreachable(int _i CK_ATTRIBUTE_UNUSED);  \
	static void name##_fn(int _i)                                   \
	{                                                               \
		memunreachable_check_now.file = __FILE__;               \
		memunreachable_check_now.line = __LINE__;               \
		memunreachable_check_now.left = true;                   \
		name##_memunreachable(_i);                              \
		memunreachable_check_now.left = false;                  \
	}                                                               \
	static const TTest name##_ttest = { #name, name##_fn, __FILE__, \
		__LINE__ };                                             \
	static const TTest *name = &name##_ttest;                       \
	static void name##_memunreachable(int _i CK_ATTRIBUTE_UNUSED)

static inline void
memunreachable_check_setup(void)
{
	memunreachable_check_now.file = __FILE__;
	memunreachable_check_now.line = __LINE__;
	memunreachable_check_now.left = false;
	memunreachable_frames_begin(&memunreachable_check_now.frames, NULL,
	    memunreachable_check_now.next);
	memunreachable_check_now.next = false;
}

static inline void
memunreachable_check_teardown(void)
{
	const char *lost;

	/* What a failed assertion leaves behind is no leak of the code. */
	if (memunreachable_check_now.left)
		return;
	lost = memunreachable_frames_end(&memunreachable_check_now.frames);
	memunreachable_check_now.next = true;
	if (lost != NULL)
		_ck_assert_failed(memunreachable_check_now.file,
		    memunreachable_check_now.line, "memory was lost",
		    MEMUNREACHABLE_CHECK_TEXT, lost);
}

/* Other fixtures may run between the tests of two cases. */
static inline void
memunreachable_check_case(void)
{
	memunreachable_check_now.next = false;
}

/*
 * Check each test of TCASE, with the checked fixtures that are added later.
 */
static inline void
memunreachable_tcase_no_leaks(TCase *tcase)
{
	tcase_add_unchecked_fixture(tcase, memunreachable_check_case, NULL);
	tcase_add_checked_fixture(
	    tcase, memunreachable_check_setup, memunreachable_check_teardown);
}

#endif
