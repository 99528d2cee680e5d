/*
 * lib/state/options_signal.c: signals by name or number, if they can be waited
 * for.
 */
#include "tests/support/pass/parsed_options.h"
#include "tests/support/suite.h"

TEST(signals_by_name)
{
	ck_assert_int_eq(mu_options_signal("USR1"), SIGUSR1);
	ck_assert_int_eq(mu_options_signal("SIGUSR2"), SIGUSR2);
	ck_assert_int_eq(mu_options_signal("sigusr2"), SIGUSR2);
	ck_assert_int_eq(mu_options_signal("hup"), SIGHUP);
	ck_assert_int_eq(mu_options_signal("WINCH"), SIGWINCH);
	ck_assert_int_eq(mu_options_signal("RTMIN"), SIGRTMIN);
	ck_assert_int_eq(mu_options_signal("SIGRTMIN"), SIGRTMIN);
	ck_assert_int_eq(mu_options_signal("RTMIN+5"), SIGRTMIN + 5);
	ck_assert_int_eq(mu_options_signal("SIGRTMIN+0"), SIGRTMIN);
	ck_assert_int_eq(mu_options_signal("RTMAX"), SIGRTMAX);
	ck_assert_int_eq(mu_options_signal("SIGRTMAX-1"), SIGRTMAX - 1);
	ck_assert_int_eq(mu_options_signal("RTMIN+30"), SIGRTMAX);
	ck_assert_int_eq(mu_options_signal("RTMAX-30"), SIGRTMIN);
	ck_assert_int_eq(mu_options_signal("40"), 40);
	ck_assert_int_eq(mu_options_signal("34"), 34);
	ck_assert_int_eq(mu_options_signal("64"), 64);
	ck_assert_int_eq(mu_options_signal("10"), 10);
}

TEST(signals_not_to_wait_for)
{
	static const char *const bad[] = { "", "0", "-1", "9", "19", "32", "33",
		"65", "99999999999999999999", "KILL", "SIGKILL", "STOP",
		"SIGSTOP", "SEGV", "11", "BUS", "FPE", "ILL", "TRAP", "5",
		"SIG", "SIGSIGUSR1", "USR3", "USR", "USR11", "RTMIN+31",
		"RTMIN+", "RTMIN-1", "RTMAX+1", "RTMAX-31", "RTMIN5",
		"RTMIN+-1", "RTMIN+99999999999999999999", "RT", "34x", " 34" };
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(mu_options_signal(bad[i]) == 0, "%s", bad[i]);
		if (bad[i][0] == '\0')
			continue;
		snprintf(text, sizeof(text), "signal=%s", bad[i]);
		ck_assert_uint_eq(lines(parse(text)), 1);
		ck_assert_ptr_nonnull(strstr(
		    parsed_buffer, ": expected a signal that can be caught"));
		assert_defaults();
	}
}
