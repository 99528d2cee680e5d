/* lib/state/options.c: text becomes options; bad text becomes warnings. */
#include "lib/state/options.h"
#include "tests/support/suite.h"

static char parsed_buffer[16384]; /* the warnings */
static struct mu_text parsed_warnings;
static struct mu_options parsed_options;

/* Parse over the defaults; the result is the warnings. */
static const char *
parse(const char *text)
{
	memset(parsed_buffer, 0, sizeof(parsed_buffer));
	parsed_warnings =
	    (struct mu_text) { parsed_buffer, sizeof(parsed_buffer), 0 };
	mu_options_default(&parsed_options);
	mu_options_parse(&parsed_options, text, &parsed_warnings);
	ck_assert_uint_lt(parsed_warnings.length, sizeof(parsed_buffer));
	return parsed_buffer;
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
	ck_assert_mem_eq(&parsed_options, &fallback, sizeof(parsed_options));
}

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
	ck_assert_str_eq(parse("workers=65"),
	    "MEMUNREACHABLE_OPTIONS, character 1: workers=65: expected a"
	    " number of threads from 0 to 64\n");
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

/*
 * lib/state/options_reach.c, and pointer_mask: what counts as a reference,
 * parsed, searched for, and described in a report.
 */
TEST(masks)
{
	static const struct {
		const char *text;
		uint64_t mask;
	} good[] = {
		{ "pointer_mask=0x00ffffffffffffff", 0x00ffffffffffffff },
		{ "pointer_mask=0XFFFFFFFFFFFFFFF8", 0xfffffffffffffff8 },
		{ "pointer_mask=0x7ffffffff000", 0x00007ffffffff000 },
		{ "pointer_mask=0x0000000000000007ffffffffffff",
		    0x7ffffffffffff },
		{ "pointer_mask=72057594037927935", 0x00ffffffffffffff },
		{ "pointer_mask=18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "pointer_mask=0", "pointer_mask=1",
		"pointer_mask=0x", "pointer_mask=0xfffffffffffffffff",
		"pointer_mask=0x10000000000000000",
		"pointer_mask=18446744073709551616",
		"pointer_mask=0x00fffffffffffffg", "pointer_mask=-1",
		"pointer_mask=0x3ffffffff000", "pointer_mask=0x7fffffffe000",
		"pointer_mask=ffffffffffffffff", "pointer_mask= 0xffffffffffff",
		"pointer_mask=~7" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_str_eq(parse(good[i].text), "");
		ck_assert_uint_eq(parsed_options.pointer_mask, good[i].mask);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		parse(bad[i]);
		ck_assert_ptr_nonnull(strstr(
		    parsed_buffer, ": expected a mask that has bits 12 to 46"));
		ck_assert_ptr_eq(
		    strchr(parsed_buffer, '\n') + 1, strchr(parsed_buffer, 0));
		ck_assert_uint_eq(parsed_options.pointer_mask, UINT64_MAX);
	}
}

static const char *
reach_words(const char *text)
{
	static char words[256];
	struct mu_text out = { words, sizeof(words), 0 };

	words[0] = '\0';
	ck_assert_str_eq(parse(text), "");
	mu_options_reach_words(&parsed_options, &out);
	return words;
}

TEST(reach_is_everything_by_default)
{
	static const struct mu_reach everything;
	struct mu_reach reach;

	ck_assert_str_eq(reach_words(""), "");
	reach = mu_options_reach(&parsed_options);
	ck_assert(!reach.no_globals && !reach.no_stacks && !reach.no_registers);
	ck_assert(!reach.no_tls && !reach.no_regions);
	ck_assert(!reach.words.unaligned);
	ck_assert_uint_eq(reach.words.tags, everything.words.tags);
}

/* Each option in the place of the search that it is about, and in words. */
TEST(reach_follows_each_option)
{
	struct mu_reach reach;

#define ONE(text, field)                                               \
	ck_assert_str_eq(reach_words(text), text);                     \
	reach = mu_options_reach(&parsed_options);                     \
	ck_assert(reach.field);                                        \
	ck_assert_int_eq(reach.no_globals + reach.no_stacks +          \
		reach.no_registers + reach.no_tls + reach.no_regions + \
		reach.words.unaligned + (reach.words.tags != 0),       \
	    1);
	ONE("use_globals=0", no_globals)
	ONE("use_stacks=0", no_stacks)
	ONE("use_registers=0", no_registers)
	ONE("use_tls=0", no_tls)
	ONE("use_root_regions=0", no_regions)
	ONE("use_unaligned=1", words.unaligned)
	ONE("pointer_mask=0xffffffffffffff", words.tags == 0xfful << 56)
#undef ONE
	ck_assert_str_eq(reach_words("use_tls=0:use_stacks=no:confirm=1"),
	    "use_stacks=0 use_tls=0");
}

/*
 * lib/state/options_signal.c: signals by name or number, if they can be waited
 * for.
 */
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

/* help=1 and memunreachable(7) name each option. */
TEST(help_names_every_option)
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

TEST(manual_names_every_option)
{
	char *manual = manual_text();

#define SHOWN_duration_ms(fallback) ((fallback) < 1000 ? #fallback "ms" : "30s")
#define SHOWN_interval_ms(fallback) ((fallback) == 0 ? "0" : "1s")
#define SHOWN_bytes(fallback) "none"
#define SHOWN_level(fallback) #fallback
#define SHOWN_path(fallback) "none"
#define SHOWN_flag(fallback) #fallback
#define SHOWN_signal(fallback) "none"
#define SHOWN_status(fallback) #fallback
#define SHOWN_count(fallback) #fallback
#define SHOWN_workers SHOWN_count
#define SHOWN_mask(fallback) #fallback
#define SHOWN_stop(fallback) "auto"
#define SHOWN_unchecked(fallback) "fail"
#define IN_MANUAL(kind, field, fallback, words) \
	assert_in_manual(manual, #field, SHOWN_##kind(fallback));
	MU_OPTIONS(IN_MANUAL)
#undef IN_MANUAL
	free(manual);
}
