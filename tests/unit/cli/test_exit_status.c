/*
 * lib/writers/exit_status.c, include/mu/status.c: each status has an exit
 * status, and a word that never changes.
 */
#include "lib/writers/exit_status.h"
#include "mu/status.h"
#include "tests/support/suite.h"

TEST(checked)
{
	struct UnreachableMemoryInfo info = { 0 };

	ck_assert_int_eq(mu_exit_status(&info, false), 0);
	info.num_leaks = 1;
	ck_assert_int_eq(mu_exit_status(&info, false), 23);
	ck_assert_int_eq(mu_exit_status(&info, true), 0);
	info.status = MEMUNREACHABLE_PARTIAL;
	ck_assert_int_eq(mu_exit_status(&info, true), 4);
	ck_assert_int_eq(mu_exit_status(&info, false), 4);
	info.num_leaks = 0;
	ck_assert_int_eq(mu_exit_status(&info, false), 4);
	ck_assert(mu_exit_checked(&info));
}

TEST(not_checked)
{
	struct UnreachableMemoryInfo info = { .num_leaks = 1 };

	for (info.status = 2; info.status <= MU_STATUS_COUNT; info.status++) {
		ck_assert(!mu_exit_checked(&info));
		ck_assert_int_eq(mu_exit_status(&info, false), 3);
	}
	info.status = -1;
	ck_assert_int_eq(mu_exit_status(&info, false), 3);
}

TEST(words)
{
	int i, j;

	ck_assert_str_eq(mu_status_word(0), "complete");
	ck_assert_str_eq(mu_status_word(1), "partial");
	ck_assert_str_eq(
	    mu_status_word(MEMUNREACHABLE_PTRACE_YAMA), "ptrace_yama");
	ck_assert_str_eq(
	    mu_status_word(MEMUNREACHABLE_SIGNALS_BLOCKED), "signals_blocked");
	for (i = 0; i < MU_STATUS_COUNT; i++) {
		ck_assert_str_ne(mu_status_word(i), "unknown");
		ck_assert_uint_eq(
		    strspn(mu_status_word(i), "abcdefghijklmnopqrstuvwxyz_"),
		    strlen(mu_status_word(i)));
		for (j = 0; j < i; j++)
			ck_assert_str_ne(mu_status_word(i), mu_status_word(j));
	}
	ck_assert_str_eq(mu_status_word(MU_STATUS_COUNT), "unknown");
	ck_assert_str_eq(mu_status_word(-1), "unknown");
}
