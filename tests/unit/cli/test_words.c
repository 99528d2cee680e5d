/*
 * lib/term/safe_text.c, lib/term/human.c, lib/term/style.c, lib/term/fold.c and
 * the progress line of lib/cli/progress.c.
 */
#include <jansson.h>

#include "lib/cli/progress.h"
#include "lib/term/fold.h"
#include "lib/term/human.h"
#include "lib/term/safe_text.h"
#include "lib/term/style.h"
#include "tests/support/suite.h"

static char buffer[256];

static const char *
terminal(const char *text)
{
	return mu_safe_for_terminal(text, buffer, sizeof(buffer));
}

static const char *
json(const char *text)
{
	return mu_safe_for_json(text, buffer, sizeof(buffer));
}

TEST(terminal_gets_no_orders)
{
	ck_assert_str_eq(terminal(""), "");
	ck_assert_str_eq(terminal("/usr/bin/a b~"), "/usr/bin/a b~");
	ck_assert_str_eq(
	    terminal("x\x1b[2J\r\n\x07y"), "x\\x1b[2J\\x0d\\x0a\\x07y");
	ck_assert_str_eq(terminal("\x7f"), "\\x7f");
	/* U+009B is CSI to some terminals, alone and as UTF-8. */
	ck_assert_str_eq(terminal("\x9b"), "\\x9b");
	ck_assert_str_eq(terminal("\xc2\x9b"
				  "2J"),
	    "\\xc2\\x9b2J");
	/* U+202E turns what follows around. */
	ck_assert_str_eq(terminal("a\xe2\x80\xae"
				  "b"),
	    "a\\xe2\\x80\\xaeb");
	ck_assert_str_eq(terminal("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
	    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

static const struct {
	const char *text, *shown, *replaced;
} malformed[] = {
	{ "\xff", "\\xff", "\xef\xbf\xbd" },
	{ "a\xc3", "a\\xc3", "a\xef\xbf\xbd" },
	{ "\xe2\x82", "\\xe2\\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xc0\xaf", "\\xc0\\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf",
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80",
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80",
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\x80z", "\\x80z", "\xef\xbf\xbdz" },
};

TEST(no_utf8)
{
	size_t i;

	for (i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
		ck_assert_str_eq(
		    terminal(malformed[i].text), malformed[i].shown);
		ck_assert_str_eq(
		    json(malformed[i].text), malformed[i].replaced);
	}
	ck_assert_str_eq(json("\x1b\xc3\xa4"), "\x1b\xc3\xa4");
}

TEST(cut_at_a_character)
{
	char small[6];
	size_t size;

	mu_safe_for_terminal("abc\x1b", small, sizeof(small));
	ck_assert_str_eq(small, "abc");
	mu_safe_for_terminal("abcd\xc3\xa4z", small, sizeof(small));
	ck_assert_str_eq(small, "abcd");
	mu_safe_for_json("abc\xff", small, sizeof(small));
	ck_assert_str_eq(small, "abc");
	for (size = 1; size <= sizeof(small); size++) {
		memset(small, 'x', sizeof(small));
		mu_safe_for_terminal("\xc3\xa4\x1b\xff"
				     "aaaa",
		    small, size);
		ck_assert_uint_lt(strlen(small), size);
	}
}

/* Whatever comes in, what comes out is printable, and JSON for jansson. */
TEST(random_bytes)
{
	unsigned seed = 4711;
	char text[24];
	json_t *value;
	size_t i;
	int n;

	for (n = 0; n < 5000; n++) {
		for (i = 0; i < sizeof(text) - 1; i++)
			text[i] = (char)(rand_r(&seed) % 3 != 0
				? 0x80 + rand_r(&seed) % 0x80
				: 1 + rand_r(&seed) % 0x7f);
		text[i] = '\0';
		terminal(text);
		for (i = 0; buffer[i] != '\0'; i++)
			ck_assert((unsigned char)buffer[i] >= ' ' &&
			    buffer[i] != 0x7f);
		value = json_string(buffer);
		ck_assert_ptr_nonnull(value);
		json_decref(value);
		value = json_string(json(text));
		ck_assert_ptr_nonnull(value);
		json_decref(value);
	}
}

TEST(bytes)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = { { 0, "0 bytes" }, { 1, "1 byte" }, { 1023, "1023 bytes" },
		{ 1024, "1.0 KiB" }, { 1536, "1.5 KiB" },
		{ 1023 * 1024, "1023.0 KiB" }, { 1048575, "1.0 MiB" },
		{ 12897485, "12.3 MiB" }, { (uint64_t)3 << 30, "3.0 GiB" },
		{ (uint64_t)5 << 40, "5.0 TiB" }, { UINT64_MAX, "16.0 EiB" } };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_str_eq(
		    mu_human_bytes(cases[i].bytes).text, cases[i].text);
}

TEST(times)
{
	ck_assert_str_eq(mu_human_time(0).text, "0 ns");
	ck_assert_str_eq(mu_human_time(999).text, "999 ns");
	ck_assert_str_eq(mu_human_time(412000).text, "412 us");
	ck_assert_str_eq(mu_human_time(999600).text, "1.0 ms");
	ck_assert_str_eq(mu_human_time(3210000).text, "3.2 ms");
	ck_assert_str_eq(mu_human_time(999960000).text, "1.00 s");
	ck_assert_str_eq(mu_human_time(61520000000).text, "61.52 s");
}

TEST(shares)
{
	ck_assert_str_eq(mu_human_percent(0, 0).text, "0%");
	ck_assert_str_eq(mu_human_percent(0, 7).text, "0%");
	ck_assert_str_eq(mu_human_percent(7, 7).text, "100%");
	ck_assert_str_eq(mu_human_percent(1, 1000).text, "less than 1%");
	ck_assert_str_eq(mu_human_percent(999, 1000).text, "more than 99%");
	ck_assert_str_eq(mu_human_percent(73, 100).text, "73%");
	ck_assert_str_eq(
	    mu_human_percent(UINT64_MAX / 2, UINT64_MAX).text, "50%");
}

static bool
is_coloured(enum mu_style_when when, bool is_terminal, const char *no_color,
    const char *term)
{
	struct mu_style style =
	    mu_style_choose(when, is_terminal, no_color, term);

	ck_assert_int_eq(style.bold[0] == '\0', style.off[0] == '\0');
	ck_assert_int_eq(style.dim[0] == '\0', style.off[0] == '\0');
	return style.bold[0] != '\0';
}

TEST(colour)
{
	ck_assert(is_coloured(MU_STYLE_AUTO, true, NULL, "xterm"));
	ck_assert(is_coloured(MU_STYLE_AUTO, true, "", "xterm"));
	ck_assert(!is_coloured(MU_STYLE_AUTO, true, "0", "xterm"));
	ck_assert(!is_coloured(MU_STYLE_AUTO, true, NULL, "dumb"));
	ck_assert(!is_coloured(MU_STYLE_AUTO, true, NULL, NULL));
	ck_assert(!is_coloured(MU_STYLE_AUTO, false, NULL, "xterm"));
	ck_assert(is_coloured(MU_STYLE_ALWAYS, false, "1", NULL));
	ck_assert(!is_coloured(MU_STYLE_NEVER, true, NULL, "xterm"));
}

TEST(progress_line)
{
	int step;

	mu_progress_line(
	    MU_CHECK_STEP_MARK, 3999999999, buffer, sizeof(buffer));
	ck_assert_str_eq(
	    buffer, "memunreachable: marking what is reachable, 3 s");
	for (step = 0; step <= MU_CHECK_STEPS; step++) {
		mu_progress_line((enum mu_check_step)step, 3600000000000000,
		    buffer, sizeof(buffer));
		ck_assert_uint_lt(strlen(buffer), 80);
	}
}

/* TEXT in lines of WIDTH columns, given in pieces of three bytes. */
static const char *
folded(const char *text, size_t width)
{
	static char lines[3 * MU_FOLD_LINE];
	struct mu_text to = { lines, sizeof(lines), 0 };
	struct mu_fold fold = { .to = mu_out_text(&to), .width = width };
	struct mu_out out = mu_fold_out(&fold);
	size_t i, length = strlen(text);

	lines[0] = '\0';
	for (i = 0; i < length; i += 3)
		out.put(out.ctx, text + i, length - i < 3 ? length - i : 3);
	mu_fold_end(&fold);
	return lines;
}

TEST(lines_are_as_wide_as_the_terminal)
{
	ck_assert_str_eq(folded("", 20), "");
	ck_assert_str_eq(folded("one\n\ntwo", 20), "one\n\ntwo");
	ck_assert_str_eq(
	    folded("a line of twenty col\n", 20), "a line of twenty col\n");
	ck_assert_str_eq(folded("a line of twenty cols\n", 20),
	    "a line of twenty\n    cols\n");
	ck_assert_str_eq(folded("  one two three four five six seven\n", 20),
	    "  one two three four\n      five six seven\n");
	ck_assert_str_eq(folded("one two three four five\n", 0),
	    "one two three four five\n");
}

/* A path can be copied. Colours have no width, and a character has one. */
TEST(words_stay_whole)
{
	ck_assert_str_eq(folded("in /usr/lib/x86_64-linux-gnu/libc.so.6\n", 20),
	    "in\n    /usr/lib/x86_64-linux-gnu/libc.so.6\n");
	/* The arguments of a template belong to its name. */
	ck_assert_str_eq(folded("one map<int, Session> two\n", 12),
	    "one\n    map<int, Session>\n    two\n");
	ck_assert_str_eq(folded("a map<int, list<T*, 3> > b\n", 12),
	    "a\n    map<int, list<T*, 3> >\n    b\n");
	ck_assert_str_eq(folded("one operator< two three\n", 12),
	    "one\n    operator<\n    two\n    three\n");
	ck_assert_str_eq(folded("one <two three> four\n", 12),
	    "one <two\n    three>\n    four\n");
	ck_assert_str_eq(folded("\x1b[1ma line of twenty col\x1b[0m\n", 20),
	    "\x1b[1ma line of twenty col\x1b[0m\n");
	ck_assert_str_eq(folded("10 \xc3\x97 text in 20 cols\n", 20),
	    "10 \xc3\x97 text in 20 cols\n");
}

TEST(a_line_of_any_length)
{
	char text[2 * MU_FOLD_LINE];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_str_eq(folded(text, 20), text);
}
