/*
 * Names, cures, and the words for a helper's end.
 */
#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mu/status.h"
#include "tests/support/suite.h"

START_TEST(names)
{
	int status, other;

	for (status = 0; status < MU_STATUS_COUNT; status++) {
		ck_assert_str_ne(mu_status_name(status), "unknown status");
		for (other = 0; other < status; other++)
			ck_assert_str_ne(
			    mu_status_name(status), mu_status_name(other));
	}
	ck_assert_str_eq(mu_status_name(MU_STATUS_COUNT), "unknown status");
	ck_assert_str_eq(
	    mu_status_name((enum mu_status) - 1), "unknown status");
}
END_TEST

/* An answer needs none. */
START_TEST(cures)
{
	int status;

	ck_assert_str_eq(mu_status_cure(MU_OK), "");
	ck_assert_str_eq(mu_status_cure(MU_PARTIAL), "");
	ck_assert_ptr_nonnull(
	    strstr(mu_status_cure(MU_ERR_TIMEOUT), "option timeout"));
	for (status = 0; status < MU_STATUS_COUNT; status++)
		ck_assert_uint_lt(strlen(mu_status_cure(status)), 80);
}
END_TEST

static const struct {
	int signo;
	const char *words;
} deaths[] = {
	{ SIGKILL,
	    "the helper was killed by signal 9 (SIGKILL); was memory"
	    " short?" },
	{ SIGTRAP,
	    "the helper was killed by signal 5 (SIGTRAP); a"
	    " breakpoint?" },
	{ SIGSEGV, "the helper was killed by signal 11 (SIGSEGV)" },
	{ SIGTERM, "the helper was killed by signal 15" },
	{ 0, "the helper ended with exit status 3" },
};

/* As wait() tells of a real end. */
START_TEST(died)
{
	struct mu_why why = { "" };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (deaths[_i].signo != 0) {
			signal(deaths[_i].signo, SIG_DFL);
			kill(getpid(), deaths[_i].signo);
		}
		_exit(3);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(
	    mu_why_died(&why, "the helper", status), MU_ERR_HELPER_DIED);
	ck_assert_str_eq(why.words, deaths[_i].words);
	ck_assert_int_eq(
	    mu_why_died(NULL, "the helper", status), MU_ERR_HELPER_DIED);
}
END_TEST

START_TEST(died_unseen)
{
	struct mu_why why = { "" };

	ck_assert_int_eq(
	    mu_why_died(&why, "the helper", -1), MU_ERR_HELPER_DIED);
	ck_assert_str_eq(why.words, "the helper died");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("status");
	TCase *tc = tcase_create("status");

	tcase_add_test(tc, names);
	tcase_add_test(tc, cures);
	tcase_add_loop_test(
	    tc, died, 0, (int)(sizeof(deaths) / sizeof(deaths[0])));
	tcase_add_test(tc, died_unseen);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
