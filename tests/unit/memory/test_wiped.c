/*
 * Which mappings count as emptied in a forked image.
 */
#include "heapwalk/memory/wiped.h"
#include "tests/support/suite.h"

/* How many; the first of them is [begin, end). */
static size_t
parse(const char *text, uintptr_t begin, uintptr_t end)
{
	struct mu_range ranges[2] = { { 0, 0 } };
	struct mu_wiped wiped = { .ranges = ranges, .max = 2 };

	mu_wiped_parse(&wiped, text, strlen(text));
	ck_assert_uint_eq(ranges[0].begin, begin);
	ck_assert_uint_eq(ranges[0].end, end);
	return wiped.count;
}

#define AREA "7f00a000-7f00c000 rw-p 00000000 00:00 0 \n"
#define OTHER "7f00d000-7f00e000 rw-p 00000000 00:00 0    /a wf b\n"

TEST(flags)
{
	ck_assert_uint_eq(parse(AREA "VmFlags: rd wr mr mw me ac wf sd \n",
			      0x7f00a000, 0x7f00c000),
	    1);
	ck_assert_uint_eq(parse(OTHER "Size: 4 kB\nVmFlags: rd\n" AREA
				      "Size: 4 kB\nVmFlags: wf\n",
			      0x7f00a000, 0x7f00c000),
	    1);
	ck_assert_uint_eq(
	    parse(AREA "VmFlags: rd wr mr mw me ac sd \n", 0, 0), 0);
	ck_assert_uint_eq(parse(AREA "VmFlags: rd wf dp\n", 0, 0), 0);
	ck_assert_uint_eq(parse(OTHER, 0, 0), 0);
	ck_assert_uint_eq(parse(AREA "VmFlags: rd wf", 0, 0), 0);
	ck_assert_uint_eq(parse(AREA "VmFlags:\nVmFlags: w\n\n wf\n", 0, 0), 0);
	ck_assert_uint_eq(parse("VmFlags: wf\n", 0, 0), 0);
	ck_assert_uint_eq(parse("", 0, 0), 0);
}

TEST(malformed_ranges)
{
	static const char *const lines[] = { "7f00c000-7f00a000 rw-p\n",
		"-7f00a000 rw-p\n", "7f00a000- rw-p\n", "7f00a000\n",
		"00000000007f00a000-7f00c000 rw-p\n", "Size:  4 kB\n",
		"7f00a000-7f00c000\n" };
	char text[128];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "%sVmFlags: wf\n", lines[i]);
		ck_assert_uint_eq(parse(text, 0, 0), 0);
	}
}

/* Lines of one mapping come in two parts; more than there is room for. */
TEST(in_parts)
{
	struct mu_range ranges[1];
	struct mu_wiped wiped = { .ranges = ranges, .max = 1 };

	mu_wiped_parse(&wiped, AREA, strlen(AREA));
	mu_wiped_parse(&wiped, "VmFlags: wf\n", 12);
	mu_wiped_parse(&wiped, OTHER, strlen(OTHER));
	mu_wiped_parse(&wiped, "VmFlags: wf\n", 12);
	ck_assert_uint_eq(wiped.count, 2);
	ck_assert_uint_eq(ranges[0].begin, 0x7f00a000);
}

TEST(of_this_process)
{
	struct mu_range range;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_assert_uint_eq(mu_wiped_find(&range, 1), 0);
	ck_assert_int_eq(madvise(page, 4096, MADV_WIPEONFORK), 0);
	ck_assert_uint_eq(mu_wiped_find(&range, 1), 1);
	ck_assert_uint_eq(range.begin, (uintptr_t)page);
	ck_assert_uint_eq(range.end, (uintptr_t)page + 4096);
	ck_assert_uint_eq(mu_wiped_find(NULL, 0), 1);
	munmap(page, 4096);
	ck_assert_uint_eq(mu_wiped_find(&range, 1), 0);
}
