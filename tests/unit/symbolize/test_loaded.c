/* Which mappings belong to one loaded file, and whose .bss a mapping is. */
#include "lib/symbolize/loaded.h"
#include "mu/arena.h"
#include "ptrace/live/mappings.h"
#include "tests/support/suite.h"

static struct mu_arena arena;
static struct mu_mapping *mappings;
static struct mu_loaded *list;
static size_t count;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 20);
}

static void
teardown(void)
{
	free(list);
	mu_arena_close(&arena);
}

static void
read_text(const char *text)
{
	struct mu_why why = { .text = "" };
	size_t lines;

	ck_assert_msg(mu_mappings_parse(text, strlen(text), &mappings, &lines,
			  &arena, &why) == MU_OK,
	    "%s", why.text);
	list = mu_loaded_list(mappings, lines, &count);
}

/* ADDRESS is in the mapping PART of FILE; -1: in none. */
static void
must_be(uintptr_t address, int file, int part)
{
	const struct mu_mapping *mapping;
	struct mu_loaded *loaded =
	    mu_loaded_find(list, count, address, &mapping);

	if (file < 0) {
		ck_assert_ptr_null(loaded);
		return;
	}
	ck_assert_ptr_eq(loaded, &list[file]);
	ck_assert_ptr_eq(mapping, part < 0 ? NULL : &mappings[part]);
}

/* The RELRO part begins in the page where what is only read ends. */
TEST(program)
{
	read_text("400000-401000 r--p 00000000 fe:01 12 /bin/a\n"
		  "401000-402000 r-xp 00001000 fe:01 12 /bin/a\n"
		  "402000-403000 r--p 00002000 fe:01 12 /bin/a\n"
		  "403000-404000 r--p 00002000 fe:01 12 /bin/a\n"
		  "404000-405000 rw-p 00003000 fe:01 12 /bin/a\n"
		  "405000-407000 rw-p 00000000 00:00 0\n"
		  "407000-409000 rw-p 00000000 00:00 0 [heap]\n"
		  "500000-501000 rw-p 00000000 00:00 0\n");
	ck_assert_uint_eq(count, 1);
	must_be(0x3fffff, -1, -1);
	must_be(0x400000, 0, 0);
	must_be(0x403fff, 0, 3);
	must_be(0x404fff, 0, 4);
	must_be(0x405000, 0, -1);
	must_be(0x406fff, 0, -1);
	must_be(0x407000, -1, -1);
	must_be(0x500000, -1, -1);
}

/* dlmopen() loads a file again; a reader of files may map it as a whole. */
TEST(twice)
{
	read_text("10000-11000 r--p 00000000 fe:01 12 /lib/l\n"
		  "11000-12000 r-xp 00001000 fe:01 12 /lib/l\n"
		  "12000-13000 r--p 00000000 fe:01 12 /lib/l\n"
		  "13000-14000 r-xp 00001000 fe:01 12 /lib/l\n"
		  "20000-24000 r--p 00000000 fe:01 12 /lib/l\n"
		  "24000-28000 r--p 00000000 fe:01 12 /lib/l\n");
	ck_assert_uint_eq(count, 4);
	must_be(0x11fff, 0, 1);
	must_be(0x12000, 1, 2);
	must_be(0x13000, 1, 3);
	must_be(0x23fff, 2, 4);
	must_be(0x24000, 3, 5);
}

/* All in the first page, mapped once for each segment. */
TEST(tiny)
{
	read_text("10000-11000 r--p 00000000 fe:01 12 /lib/t\n"
		  "11000-12000 r-xp 00000000 fe:01 12 /lib/t\n"
		  "12000-13000 rw-p 00000000 fe:01 12 /lib/t\n");
	ck_assert_uint_eq(count, 1);
	must_be(0x12000, 0, 2);
}

/* Reserved and not used, or used by other code. */
TEST(gaps)
{
	read_text("10000-11000 r--p 00000000 fe:01 12 /lib/g\n"
		  "11000-12000 ---p 00000000 00:00 0\n"
		  "12000-13000 r-xp 00001000 fe:01 12 /lib/g\n"
		  "13000-14000 r--p 00000000 fe:01 13 /lib/h\n"
		  "14000-15000 rw-p 00002000 fe:01 12 /lib/g\n"
		  "15000-16000 rw-p 00000000 00:00 0 [anon:x]\n"
		  "7000000-7001000 r-xp 00000000 00:00 0 [vdso]\n");
	ck_assert_uint_eq(count, 4);
	must_be(0x11800, 0, -1);
	must_be(0x12000, 0, 2);
	must_be(0x13000, 1, 3);
	must_be(0x14000, 2, 4);
	must_be(0x15000, -1, -1);
	must_be(0x7000fff, 3, 6);
}

TEST(nothing)
{
	list = mu_loaded_list(NULL, 0, &count);
	ck_assert_ptr_null(list);
	must_be(0, -1, -1);
	read_text("10000-11000 rw-p 00000000 00:00 0\n");
	ck_assert_uint_eq(count, 0);
	must_be(0x10000, -1, -1);
}

SUITE(.setup = setup, .teardown = teardown);
