/*
 * lib/malloc_debug/leaktracer/settings.c: the LEAKTRACER_ variables.
 */
#include "lib/malloc_debug/leaktracer/settings.h"

#include "tests/support/suite.h"

static const char *variables[16][2];
static int num_variables, num_said;
static char said[16][256];
static struct leaktracer_settings settings;

static void
set(const char *name, const char *value)
{
	variables[num_variables][0] = name;
	variables[num_variables++][1] = value;
}

static const char *
look_up(const char *name)
{
	int i;

	for (i = 0; i < num_variables; i++)
		if (strcmp(variables[i][0], name) == 0)
			return variables[i][1];
	return NULL;
}

static void
say(const char *name, const char *value, const char *expected)
{
	(void)expected;
	snprintf(said[num_said++], sizeof(said[0]), "%s=%s", name, value);
}

static void
read_them(void)
{
	num_said = 0;
	leaktracer_settings_read(&settings, look_up, say);
}

TEST(nothing_set)
{
	read_them();
	ck_assert(!settings.given);
	ck_assert(settings.banner);
	ck_assert(!settings.start);
	ck_assert(!settings.only_unreachable);
	ck_assert_ptr_null(settings.exit_report);
	ck_assert_str_eq(settings.signal_report, "leaks.out");
	ck_assert_int_eq(settings.exit_code, 0);
	ck_assert_uint_eq(settings.frames, 0);
	ck_assert_int_eq(settings.signals[0], 0);
	ck_assert_int_eq(settings.signals[1], 0);
	ck_assert_int_eq(settings.signals[2], 0);
}

TEST(empty_values_count_as_set)
{
	set("LEAKTRACER_ONSTART_STARTALLTHREAD", "");
	set("LEAKTRACER_NOBANNER", "");
	set("LEAKTRACER_ONLY_UNREACHABLE", "");
	read_them();
	ck_assert(settings.given);
	ck_assert(settings.start);
	ck_assert(!settings.banner);
	ck_assert(settings.only_unreachable);
	ck_assert_ptr_null(settings.exit_report);
	ck_assert_int_eq(num_said, 0);
}

TEST(a_file_needs_a_name)
{
	set("LEAKTRACER_AUTO_REPORTFILENAME", "");
	set("LEAKTRACER_ONSIG_REPORTFILENAME", "");
	read_them();
	ck_assert_ptr_null(settings.exit_report);
	ck_assert_str_eq(settings.signal_report, "leaks.out");
	ck_assert_int_eq(num_said, 2);
	ck_assert_str_eq(said[0], "LEAKTRACER_AUTO_REPORTFILENAME=");
}

TEST(no_banner_alone_asks_for_nothing)
{
	set("LEAKTRACER_NOBANNER", "1");
	read_them();
	ck_assert(!settings.given);
}

TEST(auto_is_start_and_report_at_exit)
{
	set("LEAKTRACER_AUTO_REPORTFILENAME", "a");
	read_them();
	ck_assert(settings.given);
	ck_assert(settings.start);
	ck_assert_str_eq(settings.exit_report, "a");
	set("LEAKTRACER_ONEXIT_REPORTFILENAME", "b");
	read_them();
	ck_assert_str_eq(settings.exit_report, "b");
}

TEST(report_at_exit_needs_a_name)
{
	set("LEAKTRACER_ONEXIT_REPORT", "");
	read_them();
	ck_assert(settings.given);
	ck_assert(!settings.start);
	ck_assert_ptr_null(settings.exit_report);
	set("LEAKTRACER_ONEXIT_REPORTFILENAME", "b");
	read_them();
	ck_assert_str_eq(settings.exit_report, "b");
}

TEST(a_name_alone_is_no_report_at_exit)
{
	set("LEAKTRACER_ONEXIT_REPORTFILENAME", "b");
	read_them();
	ck_assert_ptr_null(settings.exit_report);
}

TEST(signals_by_name_and_number)
{
	set("LEAKTRACER_ONSIG_STARTALLTHREAD", "USR1");
	set("LEAKTRACER_ONSIG_STOPALLTHREAD", "SIGUSR2");
	set("LEAKTRACER_ONSIG_REPORT", "36");
	set("LEAKTRACER_ONSIG_REPORTFILENAME", "r");
	read_them();
	ck_assert_int_eq(num_said, 0);
	ck_assert_int_eq(settings.signals[LEAKTRACER_ROLE_START], SIGUSR1);
	ck_assert_int_eq(settings.signals[LEAKTRACER_ROLE_STOP], SIGUSR2);
	ck_assert_int_eq(settings.signals[LEAKTRACER_ROLE_REPORT], 36);
	ck_assert_str_eq(settings.signal_report, "r");
	ck_assert(!settings.start);
}

TEST(other_names)
{
	set("LEAKTRACER_ONSIG_STARTALLTHREAD", "HUP");
	set("LEAKTRACER_ONSIG_STOPALLTHREAD", "sigwinch");
	set("LEAKTRACER_ONSIG_REPORT", "RTMIN+2");
	read_them();
	ck_assert_int_eq(settings.signals[LEAKTRACER_ROLE_START], SIGHUP);
	ck_assert_int_eq(settings.signals[LEAKTRACER_ROLE_STOP], SIGWINCH);
	ck_assert_int_eq(
	    settings.signals[LEAKTRACER_ROLE_REPORT], SIGRTMIN + 2);
}

/* The original calls sigaction(0, ...), which fails unseen. */
TEST(unknown_signals_are_told_and_refused)
{
	static const char *const bad[] = { "", "USR3", "0", "-1", "9", "KILL",
		"STOP", "SEGV", "65", "1000", "10x", "32" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		num_variables = 0;
		set("LEAKTRACER_ONSIG_REPORT", bad[i]);
		read_them();
		ck_assert_msg(num_said == 1, "%s", bad[i]);
		ck_assert_ptr_nonnull(
		    strstr(said[0], "LEAKTRACER_ONSIG_REPORT="));
		ck_assert_int_eq(settings.signals[LEAKTRACER_ROLE_REPORT], 0);
	}
}

TEST(exit_codes)
{
	set("LEAKTRACER_EXIT_CODE_ON_LEAKS", "42");
	read_them();
	ck_assert(settings.given);
	ck_assert_int_eq(settings.exit_code, 42);
	variables[0][1] = "0";
	read_them();
	ck_assert_int_eq(settings.exit_code, 0);
	ck_assert_int_eq(num_said, 0);
	variables[0][1] = "256";
	read_them();
	ck_assert_int_eq(settings.exit_code, 0);
	ck_assert_int_eq(num_said, 1);
	variables[0][1] = "";
	read_them();
	ck_assert_int_eq(num_said, 1);
}

TEST(depth)
{
	set("LEAKTRACER_STACK_DEPTH", "5");
	read_them();
	ck_assert_uint_eq(settings.frames, 5);
	variables[0][1] = "256";
	read_them();
	ck_assert_uint_eq(settings.frames, 256);
	variables[0][1] = "257";
	read_them();
	ck_assert_uint_eq(settings.frames, 0);
	ck_assert_int_eq(num_said, 1);
	variables[0][1] = "0";
	read_them();
	ck_assert_int_eq(num_said, 1);
}
