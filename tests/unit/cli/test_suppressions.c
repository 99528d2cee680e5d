/* lib/since/suppressions.c: patterns, and the lines of a file. */
#include <unistd.h>

#include "lib/since/suppressions.h"
#include "tests/support/suite.h"

TEST(patterns)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{ "foo", "foo", true },
		{ "foo", "a_foo_b", true },
		{ "foo", "fo", false },
		{ "^foo", "a_foo", false },
		{ "^foo", "foo(int)", true },
		{ "foo$", "a_foo", true },
		{ "foo$", "foofoo", true },
		{ "foo$", "foo_", false },
		{ "^foo$", "foo", true },
		{ "^foo$", "foofoo", false },
		{ "*", "x", true },
		{ "a*c", "xxabbcxx", true },
		{ "a*c", "cba", false },
		{ "^a*c$", "abcbc", true },
		{ "^a*c$", "abcb", false },
		{ "^*bar", "foobar", true },
		{ "lib*.so", "/usr/lib/libfoo.so.1", true },
		{ "operator new(unsigned long)", "operator new(unsigned long)",
		    true },
		{ "foo", "", false },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ck_assert_msg(mu_suppression_matches(rows[i].pattern,
				  rows[i].text) == rows[i].matches,
		    "%s in %s", rows[i].pattern, rows[i].text);
	ck_assert(!mu_suppression_matches("foo", NULL));
}

static struct mu_suppressions
read_text(const char *text, enum mu_status expected)
{
	struct mu_suppressions read = { .count = 0 };
	struct mu_why why = { .text = "" };
	char path[] = "/tmp/suppressionsXXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ck_assert_int_eq(
	    mu_suppressions_open(&read, path, "2026-11-29", &why), expected);
	if (expected != MU_OK)
		ck_assert_msg(
		    strstr(why.text, ", line ") != NULL, "%s", why.text);
	unlink(path);
	return read;
}

TEST(lines)
{
	struct mu_suppressions read = read_text("# nothing\n\n"
						"leak:operator new(int)\r\n"
						"  type:^Session$ count=3\n"
						"size:24\nsize:16-32\n"
						"module:libfoo.so"
						" until=2026-11-28 count=1\n"
						"function:f until=2026-11-29\n",
	    MU_OK);

	ck_assert_uint_eq(read.count, 6);
	ck_assert_str_eq(read.items[0].pattern, "operator new(int)");
	ck_assert_uint_eq(read.items[1].cap, 3);
	ck_assert_str_eq(read.items[1].pattern, "^Session$");
	ck_assert_uint_eq(read.items[2].max_size, 24);
	ck_assert_uint_eq(read.items[3].min_size, 16);
	ck_assert_uint_eq(read.items[3].max_size, 32);
	ck_assert(read.items[4].expired);
	ck_assert_uint_eq(read.items[4].cap, 1);
	ck_assert_str_eq(read.items[4].pattern, "libfoo.so");
	ck_assert(!read.items[5].expired);
	mu_suppressions_close(&read);
}

TEST(bad_lines)
{
	static const char *const bad[] = { "leak", "leak:", "race:x", "size:x",
		"size:9-3", "leak:x count=0", "leak:x until=tomorrow",
		"leak:x count=3y", ":x" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct mu_suppressions read =
		    read_text(bad[i], MU_ERR_ARGUMENT);

		mu_suppressions_close(&read);
	}
}
