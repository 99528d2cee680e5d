/*
 * The options of the recorder: every row of the table, and combinations in any
 * order.
 */
#include "lib/malloc_debug/state/options.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/suite.h"

#define USAGE                                                         \
	"malloc_debug: For malloc debug option descriptions go to:\n" \
	"malloc_debug:   memunreachable-malloc-debug(7)\n"

static struct debug_options
parsed(const char *text)
{
	struct debug_options options = { 0 };
	struct captured_stderr captured;
	bool good;

	captured_stderr_begin(&captured);
	good = debug_options_parse(&options, text);
	ck_assert_str_eq(captured_stderr_end(&captured), "");
	ck_assert_msg(good, "\"%s\" is refused", text);
	return options;
}

/* WORDS behind "malloc_debug: <program>: ", and the two lines of usage. */
static void
refused(const char *text, const char *words)
{
	struct debug_options options = { 0 };
	char expected[1024];
	struct captured_stderr captured;
	bool good;

	captured_stderr_begin(&captured);
	good = debug_options_parse(&options, text);
	snprintf(expected, sizeof(expected), "malloc_debug: %s: %s\n" USAGE,
	    program_invocation_short_name, words);
	ck_assert_str_eq(captured_stderr_end(&captured), expected);
	ck_assert_msg(!good, "\"%s\" is taken", text);
}

/* As Android's test names have it. */
TEST(unknown_option)
{
	refused("not_a_valid_option", "unknown option not_a_valid_option");
	refused("=5", "unknown option ");
	refused("BACKTRACE", "unknown option BACKTRACE");
	refused("backtrac", "unknown option backtrac");
}

TEST(good_option_and_bad_option)
{
	refused("backtrace not_valid guard=0", "unknown option not_valid");
	refused("backtrace=0 not_valid",
	    "bad value for option 'backtrace', value must be >= 1: 0");
}

TEST(unparseable_number)
{
	refused("backtrace=XXX", "bad value for option 'backtrace'");
	refused("bt=-", "bad value for option 'bt'");
	refused("backtrace=0x10",
	    "bad value for option 'backtrace', non "
	    "space found after option: x10");
}

TEST(illegal_value_zero)
{
	refused("fill_on_alloc=0",
	    "bad value for option 'fill_on_alloc', value must be >= 1: 0");
}

TEST(no_space)
{
	refused("backtrace=10front_guard",
	    "bad value for option 'backtrace', non space found after option: "
	    "front_guard");
}

TEST(illegal_value_negative)
{
	refused("backtrace=-1",
	    "bad value for option 'backtrace', value cannot be negative: -1");
	refused("free_track_backtrace_num_frames=-3",
	    "bad value for option 'free_track_backtrace_num_frames', value "
	    "cannot be negative: -3");
}

TEST(overflow)
{
	refused("backtrace=99999999999999999999",
	    "bad value for option 'backtrace': Numerical result out of range");
	refused("fill=9223372036854775808",
	    "bad value for option 'fill': Numerical result out of range");
	/* LONG_MAX is the limit where SIZE_MAX is documented. */
	ck_assert_uint_eq(
	    parsed("fill=9223372036854775807").fill_on_free, INT64_MAX);
}

TEST(set_value_error)
{
	static const char *const plain[] = { "backtrace_dump_on_exit",
		"bt_dmp_on_ex", "backtrace_full", "bt_full", "backtrace_python",
		"leak_track", "record_allocs_on_exit", "verify_pointers",
		"abort_on_error", "verbose", "check_unreachable_on_signal",
		"log_allocator_stats_on_signal",
		"log_allocator_stats_on_exit" };
	char text[128], words[256];
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		snprintf(text, sizeof(text), "%s=1", plain[i]);
		snprintf(words, sizeof(words),
		    "value set for option '%s' which does not take a value",
		    plain[i]);
		refused(text, words);
	}
}

TEST(space_around_equal)
{
	ck_assert_uint_eq(parsed("backtrace =10").frames, 10);
	ck_assert_uint_eq(parsed("backtrace= 10").frames, 10);
	ck_assert_uint_eq(parsed("backtrace\t =  10").frames, 10);
	ck_assert_uint_eq(parsed("backtrace = 10 guard=48").rear_guard, 48);
	ck_assert_uint_eq(parsed("backtrace=").frames, 16);
}

TEST(extra_space)
{
	struct debug_options options =
	    parsed("  \t leak_track   backtrace=10\n verbose  ");

	ck_assert(options.leak_track);
	ck_assert(options.verbose);
	ck_assert_uint_eq(options.frames, 10);
}

TEST(nothing)
{
	struct debug_options options = parsed("  ");

	ck_assert(!options.tracking);
	ck_assert(!options.backtrace);
	ck_assert_uint_eq(options.fill_on_alloc, 0);
}

TEST(value_ends_at_space)
{
	struct debug_options options =
	    parsed("backtrace_dump_prefix=/a/b=c backtrace");

	ck_assert_str_eq(options.dump_prefix, "/a/b=c");
	ck_assert(options.backtrace);
}

TEST(last_wins)
{
	ck_assert_uint_eq(parsed("backtrace=4 bt=5").frames, 5);
	ck_assert_uint_eq(parsed("guard=64 rear_guard=8").rear_guard, 8);
	ck_assert_uint_eq(parsed("rear_guard=8 guard=64").rear_guard, 64);
	ck_assert_uint_eq(parsed("backtrace=4 backtrace").frames, 16);
}

TEST(multiple_options)
{
	struct debug_options options = parsed(
	    "backtrace=64 front_guard=24 rear_guard=40 fill expand_alloc "
	    "free_track=9 verify_pointers abort_on_error");

	ck_assert_uint_eq(options.frames, 64);
	ck_assert_uint_eq(options.front_guard, 32);
	ck_assert_uint_eq(options.rear_guard, 40);
	ck_assert_uint_eq(options.fill_on_alloc, SIZE_MAX);
	ck_assert_uint_eq(options.expand_alloc, 16);
	ck_assert_uint_eq(options.free_track, 9);
	ck_assert(options.verify_pointers);
	ck_assert(options.abort_on_error);
	ck_assert(options.tracking);
}

/* Each number: without a value, the least, the most, and one beyond both. */
struct range {
	const char *name;
	size_t offset;
	size_t bare, least, most;
	bool tracking;
};

#define FIELD(name) offsetof(struct debug_options, name)
static const struct range ranges[] = {
	{ "front_guard", FIELD(front_guard), 32, 1, 16384, true },
	{ "rear_guard", FIELD(rear_guard), 32, 1, 16384, true },
	{ "guard", FIELD(rear_guard), 32, 1, 16384, true },
	{ "backtrace", FIELD(frames), 16, 1, 256, true },
	{ "bt", FIELD(frames), 16, 1, 256, true },
	{ "backtrace_enable_on_signal", FIELD(frames), 16, 1, 256, true },
	{ "backtrace_enabled_on_signal", FIELD(frames), 16, 1, 256, true },
	{ "bt_en_on_sig", FIELD(frames), 16, 1, 256, true },
	{ "backtrace_min_size", FIELD(min_size), 0, 1, SIZE_MAX, false },
	{ "bt_min_sz", FIELD(min_size), 0, 1, SIZE_MAX, false },
	{ "backtrace_max_size", FIELD(max_size), 0, 1, SIZE_MAX, false },
	{ "bt_max_sz", FIELD(max_size), 0, 1, SIZE_MAX, false },
	{ "backtrace_size", FIELD(min_size), 0, 1, SIZE_MAX, false },
	{ "bt_sz", FIELD(max_size), 0, 1, SIZE_MAX, false },
	{ "backtrace_sample", FIELD(sample_bytes), 524288, 1, (size_t)1 << 40,
	    true },
	{ "fill_on_alloc", FIELD(fill_on_alloc), SIZE_MAX, 1, SIZE_MAX, false },
	{ "fill_on_free", FIELD(fill_on_free), SIZE_MAX, 1, SIZE_MAX, false },
	{ "fill", FIELD(fill_on_alloc), SIZE_MAX, 1, SIZE_MAX, false },
	{ "fill", FIELD(fill_on_free), SIZE_MAX, 1, SIZE_MAX, false },
	{ "expand_alloc", FIELD(expand_alloc), 16, 1, 16384, false },
	{ "free_track", FIELD(free_track), 100, 1, 16384, true },
	{ "free_track_backtrace_num_frames", FIELD(free_track_frames), 16, 0,
	    256, false },
	{ "record_allocs", FIELD(record_allocs), 8000000, 1, 50000000, false },
};

static size_t
field(const struct debug_options *options, size_t offset)
{
	size_t value;

	memcpy(&value, (const char *)options + offset, sizeof(value));
	return value;
}

static size_t
rounded(const struct range *range, size_t value)
{
	return strcmp(range->name, "front_guard") == 0 ? (value + 15) / 16 * 16
						       : value;
}

TEST_LOOP(every_number, 0, sizeof(ranges) / sizeof(ranges[0]))
{
	const struct range *range = &ranges[_i];
	size_t most = range->most == SIZE_MAX ? INT64_MAX : range->most;
	struct debug_options options;
	char text[128], words[256];

	if (range->bare != 0) {
		options = parsed(range->name);
		ck_assert_uint_eq(field(&options, range->offset), range->bare);
		ck_assert_int_eq(options.tracking, range->tracking);
	} else {
		snprintf(words, sizeof(words), "bad value for option '%s'",
		    range->name);
		refused(range->name, words);
	}
	snprintf(text, sizeof(text), "%s=%zu", range->name, range->least);
	options = parsed(text);
	ck_assert_uint_eq(
	    field(&options, range->offset), rounded(range, range->least));
	snprintf(text, sizeof(text), "%s=%zu", range->name, most);
	options = parsed(text);
	ck_assert_uint_eq(field(&options, range->offset), most);
	if (range->least > 0) {
		snprintf(text, sizeof(text), "%s=%zu", range->name,
		    range->least - 1);
		snprintf(words, sizeof(words),
		    "bad value for option '%s', value must be >= %zu: %zu",
		    range->name, range->least, range->least - 1);
		refused(text, words);
	}
	if (range->most != SIZE_MAX) {
		snprintf(text, sizeof(text), "%s=%zu", range->name, most + 1);
		snprintf(words, sizeof(words),
		    "bad value for option '%s', value must be <= %zu: %zu",
		    range->name, most, most + 1);
		refused(text, words);
	}
}

TEST(plain_options)
{
	ck_assert(parsed("backtrace_dump_on_exit").dump_on_exit);
	ck_assert(parsed("bt_dmp_on_ex").dump_on_exit);
	ck_assert(!parsed("bt_dmp_on_ex").backtrace);
	ck_assert(parsed("backtrace_full").backtrace_full);
	ck_assert(parsed("bt_full").backtrace_full);
	ck_assert(parsed("backtrace_python").backtrace_python);
	ck_assert(parsed("leak_track").leak_track);
	ck_assert(parsed("leak_track").tracking);
	ck_assert(parsed("record_allocs_on_exit").record_allocs_on_exit);
	ck_assert(parsed("verify_pointers").tracking);
	ck_assert(parsed("abort_on_error").abort_on_error);
	ck_assert(!parsed("abort_on_error").tracking);
	ck_assert(parsed("verbose").verbose);
	ck_assert(
	    parsed("check_unreachable_on_signal").check_unreachable_on_signal);
	ck_assert(parsed("log_allocator_stats_on_signal").stats_on_signal);
	ck_assert(parsed("log_allocator_stats_on_exit").stats_on_exit);
}

TEST(file_names)
{
	unsetenv("TMPDIR");
	ck_assert_str_eq(parsed("bt").dump_prefix, "/tmp/backtrace_heap");
	ck_assert_str_eq(
	    parsed("bt_dmp_pre").dump_prefix, "/tmp/backtrace_heap");
	ck_assert_str_eq(parsed("record_allocs").record_allocs_file,
	    "/tmp/record_allocs.txt");
	ck_assert_str_eq(
	    parsed("backtrace_dump_prefix=/x/y").dump_prefix, "/x/y");
	ck_assert_str_eq(parsed("bt_dmp_pre=/x/y").dump_prefix, "/x/y");
	ck_assert_str_eq(
	    parsed("record_allocs_file=r.txt").record_allocs_file, "r.txt");
	/* The last setting, a bare one too. */
	ck_assert_str_eq(parsed("bt_dmp_pre=/x bt_dmp_pre").dump_prefix,
	    "/tmp/backtrace_heap");
	setenv("TMPDIR", "/var/tmp", 1);
	ck_assert_str_eq(parsed("bt").dump_prefix, "/var/tmp/backtrace_heap");
	ck_assert_str_eq(parsed("record_allocs_file").record_allocs_file,
	    "/var/tmp/record_allocs.txt");
}

TEST(backtrace_and_on_signal)
{
	struct debug_options options = parsed("backtrace_enable_on_signal=7");

	ck_assert(options.backtrace && options.backtrace_on_signal);
	ck_assert(!options.backtrace_enabled);
	options = parsed("backtrace backtrace_enable_on_signal");
	ck_assert(options.backtrace_enabled && options.backtrace_on_signal);
	options = parsed("bt_en_on_sig bt");
	ck_assert(options.backtrace_enabled && options.backtrace_on_signal);
	options = parsed("bt");
	ck_assert(options.backtrace_enabled && !options.backtrace_on_signal);
}

TEST(size_beats_min_and_max)
{
	static const char *const orders[] = {
		"backtrace_size=24 backtrace_min_size=8",
		"backtrace_min_size=8 backtrace_size=24",
		"bt_sz=24 bt_max_sz=1 bt_min_sz=100",
	};
	struct debug_options options;
	size_t i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		options = parsed(orders[i]);
		ck_assert_uint_eq(options.min_size, 24);
		ck_assert_uint_eq(options.max_size, 24);
	}
	options = parsed("bt_min_sz=8 bt_max_sz=8");
	ck_assert_uint_eq(options.min_size, 8);
	ck_assert_uint_eq(options.max_size, 8);
	options = parsed("bt");
	ck_assert_uint_eq(options.min_size, 0);
	ck_assert_uint_eq(options.max_size, SIZE_MAX);
}

TEST(min_above_max)
{
	refused("backtrace_min_size=9 backtrace_max_size=8",
	    "bad value for option 'backtrace_min_size', value must be <= 8: "
	    "9");
	refused("bt_max_sz=8 bt_min_sz=9",
	    "bad value for option 'backtrace_min_size', value must be <= 8: "
	    "9");
}

TEST(free_track_frames_in_any_order)
{
	struct debug_options options =
	    parsed("free_track_backtrace_num_frames=0 free_track");

	ck_assert_uint_eq(options.free_track_frames, 0);
	options = parsed("free_track free_track_backtrace_num_frames=0");
	ck_assert_uint_eq(options.free_track_frames, 0);
	ck_assert_uint_eq(parsed("free_track=8").free_track_frames, 16);
}

TEST(free_track_fills_all)
{
	ck_assert_uint_eq(parsed("free_track").fill_on_free, SIZE_MAX);
	ck_assert_uint_eq(
	    parsed("free_track fill_on_free=8").fill_on_free, SIZE_MAX);
	ck_assert_uint_eq(
	    parsed("fill_on_free=8 free_track").fill_on_free, SIZE_MAX);
	ck_assert_uint_eq(parsed("fill_on_free=8").fill_on_free, 8);
}

TEST(sample_implies_backtrace)
{
	struct debug_options options = parsed("backtrace_sample=4096");

	ck_assert(options.backtrace && options.backtrace_enabled);
	ck_assert_uint_eq(options.frames, 16);
	options = parsed("backtrace_sample=4096 bt_en_on_sig=5");
	ck_assert(!options.backtrace_enabled);
	ck_assert_uint_eq(options.frames, 5);
}

static struct debug_options
from_environment(bool expected)
{
	struct debug_options options;

	ck_assert_int_eq(debug_options_environment(&options), expected);
	return options;
}

TEST(case_environment)
{
	unsetenv("LIBC_HOOKS_ENABLE");
	unsetenv("LIBC_DEBUG_MALLOC_OPTIONS");
	unsetenv("MEMUNREACHABLE_MALLOC_DEBUG");
	unsetenv("MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM");
	from_environment(false);
	setenv("LIBC_DEBUG_MALLOC_OPTIONS", "", 1);
	from_environment(false);
	setenv("MEMUNREACHABLE_MALLOC_DEBUG", "bt=3", 1);
	ck_assert_uint_eq(from_environment(true).frames, 3);
	setenv("LIBC_DEBUG_MALLOC_OPTIONS", "bt=4", 1);
	ck_assert_uint_eq(from_environment(true).frames, 4);
}

TEST(filter)
{
	unsetenv("LIBC_DEBUG_MALLOC_OPTIONS");
	setenv("MEMUNREACHABLE_MALLOC_DEBUG", "bt=3", 1);
	setenv("MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM", "test_opt", 1);
	ck_assert(from_environment(true).backtrace);
	setenv("MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM", "other", 1);
	ck_assert(!from_environment(false).backtrace);
	setenv("LIBC_DEBUG_MALLOC_OPTIONS", "bt=4", 1);
	ck_assert_uint_eq(from_environment(true).frames, 4);
}

TEST(bad_options_are_none)
{
	struct debug_options options;
	struct captured_stderr captured;

	setenv("LIBC_DEBUG_MALLOC_OPTIONS", "bt nonsense", 1);
	captured_stderr_begin(&captured);
	ck_assert(!debug_options_environment(&options));
	captured_stderr_end(&captured);
	ck_assert(!options.backtrace && !options.tracking);
}

TEST(case_hooks)
{
	unsetenv("LIBC_DEBUG_MALLOC_OPTIONS");
	unsetenv("MEMUNREACHABLE_MALLOC_DEBUG");
	setenv("LIBC_HOOKS_ENABLE", "0", 1);
	from_environment(false);
	setenv("LIBC_HOOKS_ENABLE", "", 1);
	from_environment(false);
	setenv("LIBC_HOOKS_ENABLE", "1", 1);
	ck_assert(from_environment(true).hooks);
	setenv("LIBC_DEBUG_MALLOC_OPTIONS", "bt", 1);
	ck_assert(from_environment(true).hooks);
	ck_assert(from_environment(true).backtrace);
}
