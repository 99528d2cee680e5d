/* lib/state/options.c: text becomes options; bad text becomes warnings. */
#include "tests/support/pass/parsed_options.h"
#include "tests/support/suite.h"

TEST(defaults)
{
	ck_assert_str_eq(parse(NULL), "");
	assert_defaults();
	ck_assert_str_eq(parse(""), "");
	assert_defaults();
	ck_assert_str_eq(parse(":::"), "");
	assert_defaults();
	ck_assert_uint_eq(parsed_options.timeout, 30000);
	ck_assert_uint_eq(parsed_options.verbosity, 0);
	ck_assert_str_eq(parsed_options.log_path, "");
	ck_assert(!parsed_options.log_to_syslog);
	ck_assert_int_eq(parsed_options.signal, 0);
	ck_assert(!parsed_options.at_exit);
	ck_assert_int_eq(parsed_options.exitcode, 23);
	ck_assert_uint_eq(parsed_options.only_pid, 0);
	ck_assert_uint_eq(parsed_options.max_leaks, 100);
	ck_assert(!parsed_options.log_contents);
	ck_assert(parsed_options.use_globals);
	ck_assert(parsed_options.use_stacks);
	ck_assert(parsed_options.use_registers);
	ck_assert(parsed_options.use_tls);
	ck_assert(parsed_options.use_root_regions);
	ck_assert(!parsed_options.use_unaligned);
	ck_assert_uint_eq(parsed_options.pointer_mask, UINT64_MAX);
	ck_assert(!parsed_options.confirm);
	ck_assert_uint_eq(parsed_options.min_interval, 1000);
	ck_assert_uint_eq(parsed_options.max_memory, 0);
	ck_assert(!parsed_options.help);
}

TEST(every_option)
{
	ck_assert_str_eq(
	    parse("timeout=5:verbosity=2:log_path=/tmp/x:log_to_syslog=1:"
		  "signal=USR2:at_exit=1:exitcode=0:max_leaks=7:"
		  "log_contents=yes:use_globals=0:use_stacks=0:"
		  "use_registers=0:use_tls=0:use_root_regions=0:"
		  "use_unaligned=1:pointer_mask=0x00ffffffffffffff:"
		  "confirm=1:min_interval=20:max_memory=3m:only_pid=4711:"
		  "help=true:"),
	    "");
	ck_assert_uint_eq(parsed_options.timeout, 5000);
	ck_assert_uint_eq(parsed_options.verbosity, 2);
	ck_assert_str_eq(parsed_options.log_path, "/tmp/x");
	ck_assert(parsed_options.log_to_syslog);
	ck_assert_int_eq(parsed_options.signal, SIGUSR2);
	ck_assert(parsed_options.at_exit);
	ck_assert_int_eq(parsed_options.exitcode, 0);
	ck_assert_uint_eq(parsed_options.max_leaks, 7);
	ck_assert(parsed_options.log_contents);
	ck_assert(!parsed_options.use_globals);
	ck_assert(!parsed_options.use_stacks);
	ck_assert(!parsed_options.use_registers);
	ck_assert(!parsed_options.use_tls);
	ck_assert(!parsed_options.use_root_regions);
	ck_assert(parsed_options.use_unaligned);
	ck_assert_uint_eq(parsed_options.pointer_mask, 0x00ffffffffffffff);
	ck_assert(parsed_options.confirm);
	ck_assert_uint_eq(parsed_options.min_interval, 20000);
	ck_assert_uint_eq(parsed_options.max_memory, 3 << 20);
	ck_assert_uint_eq(parsed_options.only_pid, 4711);
	ck_assert(parsed_options.help);
}

TEST(parse_is_over_what_is_there)
{
	parse("exitcode=5:at_exit=1");
	mu_options_parse(
	    &parsed_options, "exitcode=6:exitcode=7", &parsed_warnings);
	ck_assert_str_eq(parsed_buffer, "");
	ck_assert_int_eq(parsed_options.exitcode, 7);
	ck_assert(parsed_options.at_exit);
}

TEST(durations)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = { { "timeout=30", 30000 }, { "timeout=30s", 30000 },
		{ "timeout=500ms", 500 }, { "timeout=1ms", 1 },
		{ "timeout=1000000s", 1000000000 },
		{ "timeout=1000000000ms", 1000000000 } };
	static const char *const bad[] = { "timeout=0", "timeout=0ms",
		"timeout=-1", "timeout=+1", "timeout=1h", "timeout=s",
		"timeout=1.5", "timeout=1 s", "timeout=1000001",
		"timeout=1000000001ms", "timeout=18446744073709551615",
		"timeout=18446744073709551616",
		"timeout=99999999999999999999999ms", "timeout=0x10" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_str_eq(parse(good[i].text), "");
		ck_assert_uint_eq(parsed_options.timeout, good[i].ms);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(
		    lines(parse(bad[i])) == 1, "%s: %s", bad[i], parsed_buffer);
		ck_assert_ptr_nonnull(strstr(parsed_buffer, "30s or 500ms\n"));
		assert_defaults();
	}
}

/* As a duration, which may be missing. */
TEST(intervals)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = { { "min_interval=0", 0 }, { "min_interval=0ms", 0 },
		{ "min_interval=5", 5000 }, { "min_interval=250ms", 250 },
		{ "min_interval=1000000s", 1000000000 } };
	static const char *const bad[] = { "min_interval=-1", "min_interval=1m",
		"min_interval=1000001", "min_interval=s", "min_interval=none" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_str_eq(parse(good[i].text), "");
		ck_assert_uint_eq(parsed_options.min_interval, good[i].ms);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(
		    lines(parse(bad[i])) == 1, "%s: %s", bad[i], parsed_buffer);
		assert_defaults();
	}
}

TEST(bytes)
{
	static const struct {
		const char *text;
		size_t bytes;
	} good[] = { { "max_memory=0", 0 }, { "max_memory=none", 0 },
		{ "max_memory=1", 1 }, { "max_memory=65536", 65536 },
		{ "max_memory=512k", (size_t)512 << 10 },
		{ "max_memory=64M", (size_t)64 << 20 },
		{ "max_memory=2g", (size_t)2 << 30 },
		{ "max_memory=17179869183g", (size_t)17179869183 << 30 },
		{ "max_memory=18446744073709551615", SIZE_MAX } };
	static const char *const bad[] = { "max_memory=-1", "max_memory=m",
		"max_memory=1mb", "max_memory=1 m", "max_memory=1.5g",
		"max_memory=1t", "max_memory=0x10", "max_memory=half",
		"max_memory=17179869184g", "max_memory=18446744073709551616" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_str_eq(parse(good[i].text), "");
		ck_assert_uint_eq(parsed_options.max_memory, good[i].bytes);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(
		    lines(parse(bad[i])) == 1, "%s: %s", bad[i], parsed_buffer);
		ck_assert_ptr_nonnull(
		    strstr(parsed_buffer, "64m or 2g, or none\n"));
		assert_defaults();
	}
}

TEST(flags)
{
	static const char *const on[] = { "1", "true", "yes", "TRUE" };
	static const char *const off[] = { "0", "false", "no", "No" };
	char text[32];
	size_t i;

	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "at_exit=%s", on[i]);
		ck_assert_str_eq(parse(text), "");
		ck_assert(parsed_options.at_exit);
		snprintf(text, sizeof(text), "at_exit=1:at_exit=%s", off[i]);
		ck_assert_str_eq(parse(text), "");
		ck_assert(!parsed_options.at_exit);
	}
	ck_assert_str_eq(parse("at_exit=2"),
	    "MEMUNREACHABLE_OPTIONS, character 1: at_exit=2: expected 1, true,"
	    " yes, 0, false or no\n");
	assert_defaults();
}

TEST(numbers_out_of_range)
{
	static const char *const bad[] = { "verbosity=3", "verbosity=-1",
		"exitcode=256", "exitcode=-1", "exitcode=99999999999999999999",
		"max_leaks=-1", "max_leaks=18446744073709551616",
		"max_leaks=1x", "max_leaks= 1", "verbosity=0x1" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(lines(parse(bad[i])) == 1, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(parsed_buffer, bad[i]));
		ck_assert_ptr_nonnull(strstr(parsed_buffer, ": expected "));
		assert_defaults();
	}
	ck_assert_str_eq(
	    parse("exitcode=255:max_leaks=18446744073709551615:verbosity=1"),
	    "");
	ck_assert_int_eq(parsed_options.exitcode, 255);
	ck_assert_uint_eq(parsed_options.max_leaks, SIZE_MAX);
	ck_assert_uint_eq(parsed_options.verbosity, 1);
}

TEST(bad_form_names_the_place)
{
	ck_assert_str_eq(parse("at_exit=1:nonsense=1:exitcode=9"),
	    "MEMUNREACHABLE_OPTIONS, character 11: nonsense=1: no such option;"
	    " help=1 lists them\n");
	ck_assert(parsed_options.at_exit);
	ck_assert_int_eq(parsed_options.exitcode, 9);
	ck_assert_str_eq(parse("at_exit"),
	    "MEMUNREACHABLE_OPTIONS, character 1: at_exit: expected"
	    " key=value\n");
	ck_assert_str_eq(parse("exitcode=1:at_exit="),
	    "MEMUNREACHABLE_OPTIONS, character 12: at_exit=: the value is"
	    " empty\n");
	ck_assert_str_eq(parse("=1"),
	    "MEMUNREACHABLE_OPTIONS, character 1: =1: no such option; help=1"
	    " lists them\n");
	ck_assert_uint_eq(lines(parse("a:b=:=:verbosity=9:=c")), 5);
	assert_defaults();
}

TEST(what_is_not_in_force)
{
	struct mu_text told = { parsed_buffer, sizeof(parsed_buffer), 0 };

	mu_options_default(&parsed_options);
	mu_options_read(
	    &parsed_options, "at_exti=1:exitcode=9:stop=never", &told);
	ck_assert_ptr_nonnull(strstr(parsed_buffer,
	    "\nMEMUNREACHABLE_OPTIONS: ignored: at_exti, stop; the other"
	    " options apply\n"));
	ck_assert_int_eq(parsed_options.exitcode, 9);
	told.length = 0;
	parsed_buffer[0] = '\0';
	mu_options_read(&parsed_options, "at_exit=1", &told);
	ck_assert_str_eq(parsed_buffer, "");
}

TEST(quotes)
{
	ck_assert_str_eq(parse("log_path='/tmp/a:b':exitcode=4"), "");
	ck_assert_str_eq(parsed_options.log_path, "/tmp/a:b");
	ck_assert_int_eq(parsed_options.exitcode, 4);
	ck_assert_str_eq(parse("log_path=\"it's\""), "");
	ck_assert_str_eq(parsed_options.log_path, "it's");
	ck_assert_str_eq(parse("log_path=a'b"), "");
	ck_assert_str_eq(parsed_options.log_path, "a'b");

	ck_assert_str_eq(parse("log_path='/tmp/a:b"),
	    "MEMUNREACHABLE_OPTIONS, character 1: log_path=/tmp/a:b: the"
	    " closing quote is missing\n");
	assert_defaults();
	ck_assert_str_eq(parse("log_path='a'b:exitcode=4"),
	    "MEMUNREACHABLE_OPTIONS, character 1: log_path=a: expected ':'"
	    " after the closing quote\n");
	ck_assert_str_eq(parsed_options.log_path, "");
	ck_assert_int_eq(parsed_options.exitcode, 4);
	ck_assert_str_eq(parse("log_path=''"),
	    "MEMUNREACHABLE_OPTIONS, character 1: log_path=: expected a file"
	    " name of 1 to 4095 bytes\n");
}

TEST(long_paths)
{
	static char text[MU_PATH_MAX + 64];
	size_t key = strlen("log_path=");

	memcpy(text, "log_path=", key);
	memset(text + key, 'x', MU_PATH_MAX - 1);
	ck_assert_str_eq(parse(text), "");
	ck_assert_uint_eq(strlen(parsed_options.log_path), MU_PATH_MAX - 1);
	memset(text + key, 'x', MU_PATH_MAX);
	parse(text);
	ck_assert_uint_eq(lines(parsed_buffer), 1);
	ck_assert_ptr_nonnull(
	    strstr(parsed_buffer, "xxxx...: expected a file name"));
	ck_assert_uint_lt(strlen(parsed_buffer), 200);
	assert_defaults();
}

TEST(warning_is_safe_for_a_terminal)
{
	ck_assert_str_eq(parse("at_exit=\x1b[2J\xff\n"),
	    "MEMUNREACHABLE_OPTIONS, character 1: at_exit=?[2J??: expected 1,"
	    " true, yes, 0, false or no\n");
	parse("\x1b=1");
	ck_assert_ptr_null(strchr(parsed_buffer, 0x1b));
}

TEST(warnings_need_no_room)
{
	struct mu_text measure = { NULL, 0, 0 };

	mu_options_default(&parsed_options);
	mu_options_parse(&parsed_options, "x=1:exitcode=3", &measure);
	ck_assert_uint_gt(measure.length, 0);
	ck_assert_int_eq(parsed_options.exitcode, 3);
}
