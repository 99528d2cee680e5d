/*
 * lib/options.c and lib/options_signal.c: text becomes options, bad text
 * becomes warnings and nothing worse.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/options.h"
#include "tests/support/suite.h"

static char buffer[16384];
static struct mu_text warnings;
static struct mu_options options;

/* Parse over the defaults; the result is the warnings. */
static const char *
parse(const char *text)
{
	memset(buffer, 0, sizeof(buffer));
	warnings = (struct mu_text) { buffer, sizeof(buffer), 0 };
	mu_options_default(&options);
	mu_options_parse(&options, text, &warnings);
	ck_assert_uint_lt(warnings.length, sizeof(buffer));
	return buffer;
}

static size_t
lines(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

static void
assert_defaults(void)
{
	struct mu_options fallback;

	mu_options_default(&fallback);
	ck_assert_mem_eq(&options, &fallback, sizeof(options));
}

START_TEST(defaults)
{
	ck_assert_str_eq(parse(NULL), "");
	assert_defaults();
	ck_assert_str_eq(parse(""), "");
	assert_defaults();
	ck_assert_str_eq(parse(":::"), "");
	assert_defaults();
	ck_assert_uint_eq(options.timeout, 30000);
	ck_assert_uint_eq(options.verbosity, 0);
	ck_assert_str_eq(options.log_path, "");
	ck_assert(!options.log_to_syslog);
	ck_assert_int_eq(options.signal, 0);
	ck_assert(!options.at_exit);
	ck_assert_int_eq(options.exitcode, 23);
	ck_assert_uint_eq(options.max_leaks, 100);
	ck_assert(!options.log_contents);
	ck_assert(options.use_globals);
	ck_assert(options.use_stacks);
	ck_assert(options.use_registers);
	ck_assert(options.use_tls);
	ck_assert(options.use_root_regions);
	ck_assert(!options.use_unaligned);
	ck_assert_uint_eq(options.pointer_mask, UINT64_MAX);
	ck_assert(!options.confirm);
	ck_assert(!options.help);
}
END_TEST

START_TEST(every_option)
{
	ck_assert_str_eq(
	    parse("timeout=5:verbosity=2:log_path=/tmp/x:log_to_syslog=1:"
		  "signal=USR2:at_exit=1:exitcode=0:max_leaks=7:"
		  "log_contents=yes:use_globals=0:use_stacks=0:"
		  "use_registers=0:use_tls=0:use_root_regions=0:"
		  "use_unaligned=1:pointer_mask=0x00ffffffffffffff:"
		  "confirm=1:help=true:"),
	    "");
	ck_assert_uint_eq(options.timeout, 5000);
	ck_assert_uint_eq(options.verbosity, 2);
	ck_assert_str_eq(options.log_path, "/tmp/x");
	ck_assert(options.log_to_syslog);
	ck_assert_int_eq(options.signal, SIGUSR2);
	ck_assert(options.at_exit);
	ck_assert_int_eq(options.exitcode, 0);
	ck_assert_uint_eq(options.max_leaks, 7);
	ck_assert(options.log_contents);
	ck_assert(!options.use_globals);
	ck_assert(!options.use_stacks);
	ck_assert(!options.use_registers);
	ck_assert(!options.use_tls);
	ck_assert(!options.use_root_regions);
	ck_assert(options.use_unaligned);
	ck_assert_uint_eq(options.pointer_mask, 0x00ffffffffffffff);
	ck_assert(options.confirm);
	ck_assert(options.help);
}
END_TEST

START_TEST(parse_is_over_what_is_there)
{
	parse("exitcode=5:at_exit=1");
	mu_options_parse(&options, "exitcode=6:exitcode=7", &warnings);
	ck_assert_str_eq(buffer, "");
	ck_assert_int_eq(options.exitcode, 7);
	ck_assert(options.at_exit);
}
END_TEST

START_TEST(durations)
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
		ck_assert_uint_eq(options.timeout, good[i].ms);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(
		    lines(parse(bad[i])) == 1, "%s: %s", bad[i], buffer);
		ck_assert_ptr_nonnull(strstr(buffer, "30s or 500ms\n"));
		assert_defaults();
	}
}
END_TEST

START_TEST(flags)
{
	static const char *const on[] = { "1", "true", "yes", "TRUE" };
	static const char *const off[] = { "0", "false", "no", "No" };
	char text[32];
	size_t i;

	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "at_exit=%s", on[i]);
		ck_assert_str_eq(parse(text), "");
		ck_assert(options.at_exit);
		snprintf(text, sizeof(text), "at_exit=1:at_exit=%s", off[i]);
		ck_assert_str_eq(parse(text), "");
		ck_assert(!options.at_exit);
	}
	ck_assert_str_eq(parse("at_exit=2"),
	    "MEMUNREACHABLE_OPTIONS, character 1: at_exit=2: expected 1, true,"
	    " yes, 0, false or no\n");
	assert_defaults();
}
END_TEST

START_TEST(numbers_out_of_range)
{
	static const char *const bad[] = { "verbosity=3", "verbosity=-1",
		"exitcode=256", "exitcode=-1", "exitcode=99999999999999999999",
		"max_leaks=-1", "max_leaks=18446744073709551616",
		"max_leaks=1x", "max_leaks= 1", "verbosity=0x1" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(lines(parse(bad[i])) == 1, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(buffer, bad[i]));
		ck_assert_ptr_nonnull(strstr(buffer, ": expected "));
		assert_defaults();
	}
	ck_assert_str_eq(
	    parse("exitcode=255:max_leaks=18446744073709551615:verbosity=1"),
	    "");
	ck_assert_int_eq(options.exitcode, 255);
	ck_assert_uint_eq(options.max_leaks, SIZE_MAX);
	ck_assert_uint_eq(options.verbosity, 1);
}
END_TEST

START_TEST(bad_form_names_the_place)
{
	ck_assert_str_eq(parse("at_exit=1:nonsense=1:exitcode=9"),
	    "MEMUNREACHABLE_OPTIONS, character 11: nonsense=1: no such option;"
	    " help=1 lists them\n");
	ck_assert(options.at_exit);
	ck_assert_int_eq(options.exitcode, 9);
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
END_TEST

START_TEST(quotes)
{
	ck_assert_str_eq(parse("log_path='/tmp/a:b':exitcode=4"), "");
	ck_assert_str_eq(options.log_path, "/tmp/a:b");
	ck_assert_int_eq(options.exitcode, 4);
	ck_assert_str_eq(parse("log_path=\"it's\""), "");
	ck_assert_str_eq(options.log_path, "it's");
	ck_assert_str_eq(parse("log_path=a'b"), "");
	ck_assert_str_eq(options.log_path, "a'b");

	ck_assert_str_eq(parse("log_path='/tmp/a:b"),
	    "MEMUNREACHABLE_OPTIONS, character 1: log_path=/tmp/a:b: the"
	    " closing quote is missing\n");
	assert_defaults();
	ck_assert_str_eq(parse("log_path='a'b:exitcode=4"),
	    "MEMUNREACHABLE_OPTIONS, character 1: log_path=a: expected ':'"
	    " after the closing quote\n");
	ck_assert_str_eq(options.log_path, "");
	ck_assert_int_eq(options.exitcode, 4);
	ck_assert_str_eq(parse("log_path=''"),
	    "MEMUNREACHABLE_OPTIONS, character 1: log_path=: expected a file"
	    " name of 1 to 4095 bytes\n");
}
END_TEST

START_TEST(long_paths)
{
	static char text[MU_PATH_MAX + 64];
	size_t key = strlen("log_path=");

	memcpy(text, "log_path=", key);
	memset(text + key, 'x', MU_PATH_MAX - 1);
	ck_assert_str_eq(parse(text), "");
	ck_assert_uint_eq(strlen(options.log_path), MU_PATH_MAX - 1);
	memset(text + key, 'x', MU_PATH_MAX);
	parse(text);
	ck_assert_uint_eq(lines(buffer), 1);
	ck_assert_ptr_nonnull(strstr(buffer, "xxxx...: expected a file name"));
	ck_assert_uint_lt(strlen(buffer), 200);
	assert_defaults();
}
END_TEST

START_TEST(warning_is_safe_for_a_terminal)
{
	ck_assert_str_eq(parse("at_exit=\x1b[2J\xff\n"),
	    "MEMUNREACHABLE_OPTIONS, character 1: at_exit=?[2J??: expected 1,"
	    " true, yes, 0, false or no\n");
	parse("\x1b=1");
	ck_assert_ptr_null(strchr(buffer, 0x1b));
}
END_TEST

START_TEST(warnings_need_no_room)
{
	struct mu_text measure = { NULL, 0, 0 };

	mu_options_default(&options);
	mu_options_parse(&options, "x=1:exitcode=3", &measure);
	ck_assert_uint_gt(measure.length, 0);
	ck_assert_int_eq(options.exitcode, 3);
}
END_TEST

START_TEST(signals_by_name)
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
END_TEST

START_TEST(signals_not_to_wait_for)
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
		ck_assert_ptr_nonnull(
		    strstr(buffer, ": expected a signal that can be caught"));
		assert_defaults();
	}
}
END_TEST

START_TEST(help_names_every_option)
{
	char text[4096] = "";
	struct mu_text help = { text, sizeof(text), 0 };

	mu_options_help(&help);
	ck_assert_uint_lt(help.length, sizeof(text));
#define IN_HELP(kind, field, fallback, words)                                 \
	ck_assert_msg(strstr(text, "\n  " #field " ") != NULL, "%s", #field); \
	ck_assert_ptr_nonnull(strstr(text, words));
	MU_OPTIONS(IN_HELP)
#undef IN_HELP
	ck_assert_ptr_nonnull(strstr(text, "500ms (default 30000ms)\n"));
	ck_assert_ptr_nonnull(strstr(text, "finds leaks (default 23)\n"));
	ck_assert_ptr_nonnull(strstr(text, "stdout (default none)\n"));
	ck_assert_ptr_nonnull(strstr(text, "or 40 (default none)\n"));
}
END_TEST

static char *
manual_text(void)
{
	FILE *file = fopen("man/memunreachable.7", "r");
	char *text = calloc(1, 1 << 20);

	ck_assert_msg(file != NULL && text != NULL,
	    "man/memunreachable.7 cannot be read: run this from the"
	    " project's root");
	ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
	fclose(file);
	return text;
}

/* Item KEY of the table of options, up to the next; it names FALLBACK. */
static void
assert_in_manual(char *manual, const char *key, const char *fallback)
{
	char item[64], value[64];
	char *at, *end, saved;

	snprintf(item, sizeof(item), "\n.It Cm %s Ns", key);
	at = strstr(manual, item);
	ck_assert_msg(at != NULL, "%s is not in memunreachable(7)", key);
	end = strstr(at + 1, "\n.It ");
	if (end == NULL)
		end = strstr(at + 1, "\n.El");
	ck_assert_ptr_nonnull(end);
	saved = *end;
	*end = '\0';
	snprintf(value, sizeof(value), "\nDefault: %s.", fallback);
	ck_assert_msg(strstr(at, value) != NULL,
	    "memunreachable(7) does not say that %s is %s by default", key,
	    fallback);
	*end = saved;
}

START_TEST(manual_names_every_option)
{
	char *manual = manual_text();

#define SHOWN_duration_ms(fallback) "30s"
#define SHOWN_level(fallback) #fallback
#define SHOWN_path(fallback) "none"
#define SHOWN_flag(fallback) #fallback
#define SHOWN_signal(fallback) "none"
#define SHOWN_status(fallback) #fallback
#define SHOWN_count(fallback) #fallback
#define SHOWN_mask(fallback) #fallback
#define IN_MANUAL(kind, field, fallback, words) \
	assert_in_manual(manual, #field, SHOWN_##kind(fallback));
	MU_OPTIONS(IN_MANUAL)
#undef IN_MANUAL
	free(manual);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_test(tc, defaults);
	tcase_add_test(tc, every_option);
	tcase_add_test(tc, parse_is_over_what_is_there);
	tcase_add_test(tc, durations);
	tcase_add_test(tc, flags);
	tcase_add_test(tc, numbers_out_of_range);
	tcase_add_test(tc, bad_form_names_the_place);
	tcase_add_test(tc, quotes);
	tcase_add_test(tc, long_paths);
	tcase_add_test(tc, warning_is_safe_for_a_terminal);
	tcase_add_test(tc, warnings_need_no_room);
	tcase_add_test(tc, signals_by_name);
	tcase_add_test(tc, signals_not_to_wait_for);
	tcase_add_test(tc, help_names_every_option);
	tcase_add_test(tc, manual_names_every_option);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
