/* Names and remedies of statuses, and the text for the end of a helper. */
#include "mu/status.h"
#include "tests/support/suite.h"

TEST(names)
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

/* An answer needs none. */
TEST(cures)
{
	int status;

	ck_assert_str_eq(mu_status_cure(MU_OK), "");
	ck_assert_str_eq(mu_status_cure(MU_PARTIAL), "");
	ck_assert_ptr_nonnull(
	    strstr(mu_status_cure(MU_ERR_TIMEOUT), "option timeout"));
	for (status = 0; status < MU_STATUS_COUNT; status++)
		ck_assert_uint_lt(strlen(mu_status_cure(status)), 80);
}

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

/* A status as wait() returns it. */
TEST_LOOP(died, 0, (int)(sizeof(deaths) / sizeof(deaths[0])))
{
	struct mu_why why = { .text = "" };
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
	ck_assert_str_eq(why.text, deaths[_i].words);
	ck_assert_int_eq(
	    mu_why_died(NULL, "the helper", status), MU_ERR_HELPER_DIED);
}

TEST(died_unseen)
{
	struct mu_why why = { .text = "" };

	ck_assert_int_eq(
	    mu_why_died(&why, "the helper", -1), MU_ERR_HELPER_DIED);
	ck_assert_str_eq(why.text, "the helper died");
}

static void
expect(const struct mu_why *why, const char *words, const char *cure)
{
	ck_assert(mu_why_check(why));
	ck_assert_str_eq(why->text, words);
	ck_assert_str_eq(why->cure > 0 ? why->text + why->cure : "", cure);
}

/* Text of a name is no remedy, whatever it contains. */
TEST(remedies)
{
	struct mu_why why = { "old; cure", 5 };

	ck_assert_int_eq(mu_why(&why, MU_ERR_BUSY, "no %s; %d" MU_CURE "do %s",
			     "a; b", 7, "c\fd"),
	    MU_ERR_BUSY);
	expect(&why, "no a; b; 7; do c\fd", "do c\fd");
	mu_why(&why, MU_ERR_BUSY, "no %s", "a; b\fc");
	expect(&why, "no a; b\fc", "");
	mu_why(&why, MU_ERR_BUSY, "no %s" MU_CURE "%s", "a", "");
	expect(&why, "no a", "");
	mu_why_cure(&why, "try %d", 1);
	expect(&why, "no a; try 1", "try 1");
	mu_why_cure(&why, "try %d", 2);
	expect(&why, "no a; try 1; try 2", "try 1; try 2");
	mu_why_drop_cure(&why);
	expect(&why, "no a", "");
	mu_why_drop_cure(&why);
	expect(&why, "no a", "");
}

TEST(one_after_another)
{
	struct mu_why first, second;

	mu_why(&first, MU_ERR_BUSY, "one" MU_CURE "cure it");
	mu_why(&second, MU_ERR_BUSY, "two" MU_CURE "heal it");
	mu_why_after(&second, &first, ": ");
	expect(&second, "one; cure it: two; heal it", "heal it");
	mu_why(&second, MU_ERR_BUSY, "two");
	mu_why_after(&second, &first, ": ");
	expect(&second, "one; cure it: two", "cure it: two");
}

/* At each length around the end of the words. */
TEST(too_long)
{
	char cause[300];
	struct mu_why why, twice;
	size_t length;

	for (length = 200; length < sizeof(cause); length++) {
		memset(cause, 'x', length);
		cause[length] = '\0';
		mu_why(&why, MU_ERR_BUSY, "%s" MU_CURE "cure", cause);
		ck_assert(mu_why_check(&why));
		twice = why;
		mu_why_after(&twice, &why, ": ");
		ck_assert(mu_why_check(&twice));
		mu_why_cure(&why, "more");
		ck_assert(mu_why_check(&why));
		mu_why_drop_cure(&why);
		ck_assert(mu_why_check(&why));
	}
}

TEST(bytes_of_others)
{
	struct mu_why why = { "abc", 3 };

	ck_assert(mu_why_check(&why));
	why.cure = 4;
	ck_assert(!mu_why_check(&why));
	why.cure = 1; /* no room for the separator before it */
	ck_assert(!mu_why_check(&why));
	why.cure = 0;
	memset(why.text, 'x', sizeof(why.text));
	ck_assert(!mu_why_check(&why));
}
