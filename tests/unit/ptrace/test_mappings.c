/* The parser of /proc/PID/maps: real lines, unusual names, hostile texts. */
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "tests/support/suite.h"

static struct mu_arena arena;
static struct mu_mapping *maps;
static size_t count;
static struct mu_why why;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)64 << 20);
	maps = NULL;
	count = 0;
	memset(&why, 0, sizeof(why));
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

/*
 * Parse a buffer that ends with the text, so that sanitizers see a read beyond
 * it.
 */
static enum mu_status
parse_bytes(const char *text, size_t length)
{
	char *exact = malloc(length + (length == 0));
	enum mu_status status;

	memcpy(exact, text, length);
	status = mu_mappings_parse(exact, length, &maps, &count, &arena, &why);
	memset(exact, '?', length); /* nothing may point into it */
	free(exact);
	return status;
}

static enum mu_status
parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void
must_refuse(const char *text)
{
	struct mu_mapping *kept = maps;

	ck_assert_msg(parse(text) == MU_ERR_NO_PROC, "accepted: %s", text);
	ck_assert_ptr_eq(maps, kept);
	ck_assert(strlen(why.text) > 0);
}

TEST(real_lines)
{
	static const char text[] =
	    "55d0c7a00000-55d0c7a28000 r--p 00000000 fe:01 4310              "
	    "         /usr/bin/cat\n"
	    "55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0                 "
	    "         [heap]\n"
	    "7f1c2a5d5000-7f1c2a629000 r-xs 001a1000 103:0a 4325             "
	    "         /usr/lib/libc.so.6\n"
	    "7f1c2a700000-7f1c2a721000 ---p 00000000 00:00 0 \n"
	    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0         "
	    "         [vsyscall]\n";

	ck_assert_int_eq(parse(text), MU_OK);
	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(maps[0].range.begin, 0x55d0c7a00000);
	ck_assert_uint_eq(maps[0].range.end, 0x55d0c7a28000);
	ck_assert(maps[0].readable && !maps[0].writable);
	ck_assert(!maps[0].executable && !maps[0].shared);
	ck_assert_uint_eq(maps[0].dev_major, 0xfe);
	ck_assert_uint_eq(maps[0].dev_minor, 1);
	ck_assert_uint_eq(maps[0].inode, 4310);
	ck_assert_str_eq(maps[0].name, "/usr/bin/cat");
	ck_assert_str_eq(maps[1].name, "[heap]");
	ck_assert(maps[1].writable);
	ck_assert_uint_eq(maps[2].offset, 0x1a1000);
	ck_assert_uint_eq(maps[2].dev_major, 0x103);
	ck_assert(maps[2].executable && maps[2].shared);
	ck_assert(!maps[3].readable);
	ck_assert_str_eq(maps[3].name, "");
	ck_assert_uint_eq(maps[4].range.end, 0xffffffffff601000);
}

TEST(odd_names)
{
	static const char text[] =
	    "1000-2000 rw-p 00000000 00:00 0      [anon:two words]\n"
	    "2000-3000 rw-p 00000000 fe:01 7      /tmp/a file (deleted)\n"
	    "3000-4000 rw-p 00000000 fe:01 7      /tmp/new\\012line\n"
	    "4000-5000 rw-p 00000000 fe:01 7      /tmp/back\\101slash\\01\n"
	    "5000-6000 rw-p 00000000 fe:01 7      /tmp/ends in space \n"
	    "6000-7000 rw-s 00000000 00:01 9      /dev/zero (deleted)\n"
	    "7000-8000 rw-p 00000000 00:00 0\n"
	    "8000-9000 rw-p 00000000 fe:01 7      /tmp/\\012\\012\n"
	    "9000-a000 rw-p 00000000 fe:01 7      /tmp/\xff\xfe\x01\n";

	ck_assert_int_eq(parse(text), MU_OK);
	ck_assert_uint_eq(count, 9);
	ck_assert_str_eq(maps[0].name, "[anon:two words]");
	ck_assert_str_eq(maps[1].name, "/tmp/a file (deleted)");
	ck_assert_str_eq(maps[2].name, "/tmp/new\nline");
	/* The kernel escapes nothing but the newline here. */
	ck_assert_str_eq(maps[3].name, "/tmp/back\\101slash\\01");
	ck_assert_str_eq(maps[4].name, "/tmp/ends in space ");
	ck_assert_str_eq(maps[5].name, "/dev/zero (deleted)");
	ck_assert_str_eq(maps[6].name, "");
	ck_assert_str_eq(maps[7].name, "/tmp/\n\n");
	ck_assert_str_eq(maps[8].name, "/tmp/\xff\xfe\x01");
}

/*
 * Android's parser cuts names at 95 characters; ours must not, up to PATH_MAX
 * and beyond.
 */
TEST(long_name)
{
	char text[10000], name[8192];

	memset(name, 'n', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "1000-2000 rw-p 0 00:00 0 %s\n", name);
	ck_assert_int_eq(parse(text), MU_OK);
	ck_assert_str_eq(maps[0].name, name);
}

TEST(same_names)
{
	static const char text[] = "1000-2000 r--p 0 00:00 1 /a\n"
				   "2000-3000 r-xp 0 00:00 1 /a\n"
				   "3000-4000 r-xp 0 00:00 1 /ab\n"
				   "4000-5000 r-xp 0 00:00 0\n"
				   "5000-6000 r-xp 0 00:00 1 /a\n";

	ck_assert_int_eq(parse(text), MU_OK);
	ck_assert_str_eq(maps[1].name, "/a");
	ck_assert_str_eq(maps[2].name, "/ab");
	ck_assert_str_eq(maps[3].name, "");
	ck_assert_str_eq(maps[4].name, "/a");
}

TEST(empty)
{
	ck_assert_int_eq(
	    mu_mappings_parse(NULL, 0, &maps, &count, &arena, &why), MU_OK);
	ck_assert_uint_eq(count, 0);
	ck_assert_ptr_nonnull(maps);
}

TEST(malformed)
{
	must_refuse("\n");
	must_refuse("x\n");
	must_refuse("1000 rw-p 0 00:00 0\n");
	must_refuse("1000- rw-p 0 00:00 0\n");
	must_refuse("-1000 rw-p 0 00:00 0\n");
	must_refuse("1000-2000\n");
	must_refuse("1000-2000 \n");
	must_refuse("1000-2000 rw-\n");
	must_refuse("1000-2000 rw-x 0 00:00 0\n");
	must_refuse("1000-2000 wr-p 0 00:00 0\n");
	must_refuse("1000-2000 rw-pp 0 00:00 0\n");
	must_refuse("1000-2000 rw-p\n");
	must_refuse("1000-2000 rw-p 0\n");
	must_refuse("1000-2000 rw-p 0 00\n");
	must_refuse("1000-2000 rw-p 0 00:\n");
	must_refuse("1000-2000 rw-p 0 00:00\n");
	must_refuse("1000-2000 rw-p 0 00:00 \n");
	must_refuse("1000-2000 rw-p 0 00:00 x\n");
	must_refuse("1000-2000 rw-p 0 00:00 0x\n");
	must_refuse("1000-2000 rw-p 0 00:00 0\tname\n");
	must_refuse(" 1000-2000 rw-p 0 00:00 0\n");
	must_refuse("1000-2000  rw-p 0 00:00 0\n");
	must_refuse("0x1000-0x2000 rw-p 0 00:00 0\n");
	must_refuse("1000-2000 rw-p 0 00:00 0\n\n");
}

TEST(numbers_too_large)
{
	must_refuse("1000-10000000000000000 rw-p 0 00:00 0\n");
	must_refuse("1000-ffffffffffffffffffffffffffffffff rw-p 0 00:00 0\n");
	must_refuse("1000-2000 rw-p 10000000000000000 00:00 0\n");
	must_refuse("1000-2000 rw-p 0 100000000:00 0\n");
	must_refuse("1000-2000 rw-p 0 00:100000000 0\n");
	must_refuse("1000-2000 rw-p 0 00:00 18446744073709551616\n");
	ck_assert_int_eq(parse("1000-ffffffffffffffff rw-p ffffffffffffffff "
			       "ffffffff:ffffffff 18446744073709551615\n"),
	    MU_OK);
	ck_assert_uint_eq(maps[0].inode, UINT64_MAX);
}

TEST(ranges)
{
	must_refuse("2000-1000 rw-p 0 00:00 0\n");
	must_refuse("2000-2000 rw-p 0 00:00 0\n");
	must_refuse("1000-3000 rw-p 0 00:00 0\n2000-4000 rw-p 0 00:00 0\n");
	must_refuse("3000-4000 rw-p 0 00:00 0\n1000-2000 rw-p 0 00:00 0\n");
	must_refuse("1000-2000 rw-p 0 00:00 0\n1000-2000 rw-p 0 00:00 0\n");
	ck_assert_int_eq(
	    parse("0-1000 rw-p 0 00:00 0\n1000-2000 rw-p 0 00:00 0\n"), MU_OK);
}

TEST(nul_bytes)
{
	static const char in_name[] = "1000-2000 rw-p 0 00:00 0 /a\0b\n";
	static const char in_field[] = "1000-2000 rw-p 0 00:\0000 0\n";

	ck_assert_int_eq(
	    parse_bytes(in_name, sizeof(in_name) - 1), MU_ERR_NO_PROC);
	ck_assert_int_eq(
	    parse_bytes(in_field, sizeof(in_field) - 1), MU_ERR_NO_PROC);
}

/* A text cut anywhere but at the end of a line is refused. */
TEST(truncations)
{
	static const char text[] =
	    "1000-2000 r-xp 00000000 fe:01 4325       /usr/lib/libc.so.6\n"
	    "2000-3000 rw-p 00001000 fe:01 4325       /usr/lib/libc.so.6\n";
	size_t length, line = strcspn(text, "\n") + 1;

	for (length = 0; length < sizeof(text) - 1; length++)
		ck_assert_int_eq(parse_bytes(text, length),
		    length == 0 || length == line ? MU_OK : MU_ERR_NO_PROC);
}

TEST(twenty_thousand)
{
	size_t lines = 20000, size = lines * 128, used = 0, i;
	char *text = malloc(size), name[64];

	for (i = 0; i < lines; i++)
		used += (size_t)snprintf(text + used, size - used,
		    "%zx-%zx rw-p 00000000 fe:01 %zu            /lib/%zu.so\n",
		    (i + 1) << 13, ((i + 1) << 13) + 4096, i, i / 4);
	ck_assert_int_eq(parse_bytes(text, used), MU_OK);
	ck_assert_uint_eq(count, lines);
	for (i = 0; i < lines; i++) {
		snprintf(name, sizeof(name), "/lib/%zu.so", i / 4);
		ck_assert_uint_eq(maps[i].inode, i);
		ck_assert_str_eq(maps[i].name, name);
	}
	free(text);
}

TEST(no_memory)
{
	static const char text[] = "1000-2000 rw-p 0 00:00 0 /a\n"
				   "2000-3000 rw-p 0 00:00 0 /b\n";
	size_t n;

	for (n = 1; n < 100; n++) {
		arena.fail_at = n;
		if (parse(text) == MU_OK)
			break;
		ck_assert_ptr_null(maps);
		ck_assert(strstr(why.text, "memory") != NULL);
	}
	ck_assert_uint_eq(n, 4); /* the array and two names */
}

/* This takes many reads: the lines do not fit into one. */
TEST(read_ourselves)
{
	size_t pages = 3000, i, found = 0;
	long page = sysconf(_SC_PAGESIZE);
	char *base = mmap(NULL, pages * (size_t)page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(base, MAP_FAILED);
	for (i = 0; i < pages; i += 2)
		mprotect(base + i * (size_t)page, (size_t)page, PROT_READ);
	ck_assert_int_eq(
	    mu_mappings_read(getpid(), &maps, &count, &arena, &why), MU_OK);
	for (i = 0; i < count; i++)
		if (maps[i].range.begin >= (uintptr_t)base &&
		    maps[i].range.end <=
			(uintptr_t)base + pages * (size_t)page &&
		    !maps[i].writable)
			found++;
	ck_assert_uint_ge(found, pages / 2 - 1);
	ck_assert_uint_gt(count, pages - 2);
	munmap(base, pages * (size_t)page);
}

TEST(read_no_process)
{
	/* Above PID_MAX_LIMIT: there is no such process. */
	ck_assert_int_eq(
	    mu_mappings_read(0x7ffffffe, &maps, &count, &arena, &why),
	    MU_ERR_TARGET_GONE);
	arena.fail_at = 1;
	ck_assert_int_eq(
	    mu_mappings_read(getpid(), &maps, &count, &arena, &why),
	    MU_ERR_NO_MEMORY);
}

SUITE(.setup = setup, .teardown = teardown);
