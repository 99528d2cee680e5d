/*
 * Lines by the tables of CPython's code objects, each compiled by that release
 * from the source in the comment, and by tables that end early.
 */
#include "lib/malloc_debug/unwind/python_lines.h"
#include "tests/support/suite.h"

static int
line(enum python_table kind, const char *table, size_t size, size_t position)
{
	return python_line(
	    kind, (const unsigned char *)table, size, 10, position);
}

#define LINE(kind, table, position) \
	line(kind, table, sizeof(table) - 1, position)

/* Two bytes further the next line, then one of 3 lines before, then 200 on. */
TEST(lnotab)
{
	static const char table[] = "\2\1\4\375\0\177\6\111";

	ck_assert_int_eq(LINE(PYTHON_LNOTAB, table, 0), 10);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, table, 1), 10);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, table, 2), 11);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, table, 6), 135);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, table, 12), 208);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, table, 9999), 208);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, "", 4), 10);
	ck_assert_int_eq(LINE(PYTHON_LNOTAB, "\2", 4), 10);
}

TEST(lines)
{
	static const char table[] = "\4\1\2\200\6\376";

	ck_assert_int_eq(LINE(PYTHON_LINES, table, 0), 11);
	ck_assert_int_eq(LINE(PYTHON_LINES, table, 3), 11);
	ck_assert_int_eq(LINE(PYTHON_LINES, table, 4), 0);
	ck_assert_int_eq(LINE(PYTHON_LINES, table, 6), 9);
	ck_assert_int_eq(LINE(PYTHON_LINES, table, 12), 0);
	ck_assert_int_eq(LINE(PYTHON_LINES, "\4", 0), 0);
}

/* Two units of the next line but one, one in the same, two without a line. */
TEST(locations)
{
	static const char table[] = "\341\0\0\200\0\371\350\3\360\4\0\0\0";

	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 0), 12);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 3), 12);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 4), 12);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 6), 0);
	/* CODE_NO_COLUMNS: one line less; CODE_LONG: two lines more */
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 10), 11);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 12), 13);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 14), 0);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, "\350", 0), 10);
	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, "", 0), 0);
}

/* More than 2^6 lines at once. */
TEST(long_numbers)
{
	static const char table[] = "\350\100\77";

	ck_assert_int_eq(LINE(PYTHON_LOCATIONS, table, 0), 10 + (63 << 5));
	ck_assert_int_eq(
	    LINE(PYTHON_LOCATIONS, "\350\177\177\177\177\177\177\177", 0) != 0,
	    1);
}
