/* The 50 tests with Check. */
#include <memunreachable/check.h>

#include "bodies.h"

#define T(name, ...)         \
	START_TEST(name)     \
	{                    \
		__VA_ARGS__; \
	}                    \
	END_TEST
#include "bodies.def"
#undef T

int
main(void)
{
	Suite *suite = suite_create("truth");
	TCase *tcase = tcase_create("truth");
	SRunner *runner = srunner_create(suite);
	int failed;

	memunreachable_tcase_no_leaks(tcase);
#define T(name, ...) tcase_add_test(tcase, name);
#include "bodies.def"
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
