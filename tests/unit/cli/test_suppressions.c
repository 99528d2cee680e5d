/* lib/since/suppressions.c: patterns, and the lines of a file. */
#include <unistd.h>

#include "lib/since/suppressions.h"
#include "lib/since/valgrind_entry.h"
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

static bool
matches(const char *callers)
{
	static const struct mu_valgrind_frame frames[] = {
		{ "operator new(unsigned long)", "/lib/libstdc++.so.6" },
		{ "make(int)", "/usr/bin/program" },
		{ NULL, "/usr/lib/libplugin.so" },
		{ "main", "/usr/bin/program" },
	};
	char text[300];
	struct mu_suppressions read;
	bool matched;

	snprintf(text, sizeof(text),
	    "leak:x\n{\n  name\n  Memcheck:Leak\n%s}\n", callers);
	read = read_text(text, MU_OK);
	ck_assert_uint_eq(read.count, 2);
	ck_assert_str_eq(read.items[1].pattern, "name");
	matched = mu_valgrind_entry_matches(read.items[1].callers, frames, 4);
	mu_suppressions_close(&read);
	return matched;
}

TEST(entries_of_valgrind)
{
	static const char *const others[] = {
		"{\nn\nMemcheck:Cond\nfun:f\n}\n",
		"{\nn\nMemcheck:Param\nwrite(buf)\nfun:f\n}\n",
		"{\nn\nMemcheck:Leak\nmatch-leak-kinds: reachable\nfun:f\n}\n",
	};
	static const char *const bad[] = { "{\n", "{\n}\n",
		"{\nn\nMemcheck\n}\n", "{\nn\nMemcheck:Leak\nfun:f\n",
		"{\nn\nMemcheck:Leak\nf\n}\n" };
	struct mu_suppressions read;
	size_t i;

	ck_assert(matches("fun:_Znwm\nfun:_Z4makei\n"));
	ck_assert(matches("fun:malloc\nfun:make*\nobj:*/libplugin.so\n"));
	ck_assert(
	    matches("match-leak-kinds: definite,indirect\n...\nfun:main\n"));
	ck_assert(matches("...\nobj:/usr/bin/program\nfun:*\nfun:ma?n\n"));
	ck_assert(matches("...\n"));
	ck_assert(matches("fun:*alloc\nfun:make*\n"));
	ck_assert(!matches("fun:main\n"));
	ck_assert(!matches("fun:make\n"));
	ck_assert(!matches("...\nfun:main\nfun:_start\n"));
	ck_assert(!matches("obj:/usr/bin/prog\n"));
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		read = read_text(others[i], MU_OK);
		ck_assert_uint_eq(read.count, 0);
		mu_suppressions_close(&read);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		read = read_text(bad[i], MU_ERR_ARGUMENT);
		mu_suppressions_close(&read);
	}
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
