/* lib/malloc_debug/leaktracer/: the lines of a report. */
#include "lib/malloc_debug/leaktracer/lines.h"

#include <regex.h>

#include "lib/malloc_debug/leaktracer/modules.h"
#include "lib/malloc_debug/leaktracer/preview.h"
#include "mu/arch/unwind.h"
#include "tests/support/suite.h"

static char line[LEAKTRACER_LINE];

/* The analyser's of the original. */
#define ANALYSER \
	"^leak, time=([0-9.]*), stack=([A-Za-z0-9_ ]*), size=([0-9]*), data=.*"

static void
assert_matches(const char *text, const char *pattern)
{
	regex_t regex;

	ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "%s", text);
	regfree(&regex);
}

TEST(first_line)
{
	size_t length = leaktracer_first_line(
	    line, sizeof(line), 1700000000123456789ull, 100000456789ull);

	ck_assert_str_eq(
	    line, "# LeakTracer report diff_utc_mono=1699999900.123000\n");
	ck_assert_uint_eq(length, strlen(line));
	leaktracer_first_line(line, sizeof(line), 0, 1500000000ull);
	ck_assert_str_eq(line, "# LeakTracer report diff_utc_mono=-1.500000\n");
}

TEST(time_is_padded_to_the_width_of_the_uptime)
{
	struct leaktracer_line record = { .time_ns = 12000034567ull };

	ck_assert_uint_eq(leaktracer_width(0), 1);
	ck_assert_uint_eq(leaktracer_width(9999999999ull), 1);
	ck_assert_uint_eq(leaktracer_width(10000000000ull), 2);
	ck_assert_uint_eq(leaktracer_width(123456000000000ull), 6);
	record.width = 5;
	leaktracer_line(line, sizeof(line), &record);
	ck_assert_str_eq(
	    line, "leak, time=00012.000034, stack=, size=0, data=\n");
	record.width = 1;
	leaktracer_line(line, sizeof(line), &record);
	ck_assert_str_eq(line, "leak, time=12.000034, stack=, size=0, data=\n");
	assert_matches(line, ANALYSER);
}

TEST(stack_and_data)
{
	const uint64_t frames[] = { 0x555555555139 - MU_UNWIND_CALL,
		0x7ffff7dd0d0a - MU_UNWIND_CALL, 8 };
	struct leaktracer_line record = {
		.time_ns = 1,
		.width = 1,
		.size = 256,
		.frames = frames,
		.num_frames = 3,
		.data = (const unsigned char *)"a, b=\0\n\x7f\x80\xff ~",
		.num_data = 12,
	};
	size_t length = leaktracer_line(line, sizeof(line), &record);

	ck_assert_str_eq(line,
	    "leak, time=0.000000, stack=0x555555555139 0x7ffff7dd0d0a 0x8,"
	    " size=256, data=a, b=..... ~\n");
	ck_assert_uint_eq(length, strlen(line));
	assert_matches(line, ANALYSER);
}

TEST(longest_line_fits)
{
	static uint64_t frames[256];
	unsigned char data[50];
	struct leaktracer_line record = { UINT64_MAX, 20, UINT64_MAX, frames,
		256, data, sizeof(data) };

	memset(frames, 0x7e, sizeof(frames));
	memset(data, 'x', sizeof(data));
	ck_assert_uint_lt(
	    leaktracer_line(line, sizeof(line), &record), sizeof(line));
	ck_assert_uint_eq(strlen(strstr(line, "data=")), 5 + 50 + 1);
}

TEST(preview_of_memory_that_is_not_there)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buffer[50] = "";

	ck_assert_ptr_ne(pages, MAP_FAILED);
	memset(pages, 'a', 2 * page);
	ck_assert_uint_eq(
	    leaktracer_preview((uintptr_t)pages + page - 20, buffer, 50), 50);
	ck_assert_int_eq(buffer[49], 'a');
	munmap(pages + page, page);
	ck_assert_uint_eq(
	    leaktracer_preview((uintptr_t)pages + page - 20, buffer, 50), 20);
	ck_assert_uint_eq(
	    leaktracer_preview((uintptr_t)pages + page, buffer, 50), 0);
	mprotect(pages, page, PROT_NONE);
	ck_assert_uint_eq(leaktracer_preview((uintptr_t)pages, buffer, 50), 0);
	ck_assert_uint_eq(leaktracer_preview(0, buffer, 50), 0);
	ck_assert_uint_eq(leaktracer_preview((uintptr_t)pages, buffer, 0), 0);
	munmap(pages, page);
}

static char table[1 << 18];

static void
into_table(void *ctx, const char *text, size_t length)
{
	size_t *used = ctx;

	ck_assert_int_eq(text[length - 1], '\n');
	ck_assert_uint_lt(*used + length, sizeof(table));
	memcpy(table + *used, text, length);
	*used += length;
}

/* The line of the module in which ADDRESS is. */
static bool
find_module(uintptr_t address, unsigned long *bias, unsigned long *offset,
    char *build_id, char *path)
{
	unsigned long start, end;
	const char *at = table;

	do {
		ck_assert_int_eq(
		    sscanf(at, "# module %lx-%lx %lx %lx %127s %4095[^\n]",
			&start, &end, offset, bias, build_id, path),
		    6);
		if (address >= start && address < end) {
			*offset += address - start;
			return true;
		}
		at = strchr(at, '\n') + 1;
	} while (*at != '\0');
	return false;
}

TEST(module_table)
{
	unsigned long bias, offset;
	char build_id[128], path[4096], program[4096];
	size_t used = 0;
	ssize_t n;

	leaktracer_modules(into_table, &used);
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	ck_assert_int_gt(n, 0);
	program[n] = '\0';
	ck_assert(
	    find_module((uintptr_t)into_table, &bias, &offset, build_id, path));
	ck_assert_str_eq(path, program);
	ck_assert_uint_le(bias, (uintptr_t)into_table);
	ck_assert(
	    find_module((uintptr_t)getpid, &bias, &offset, build_id, path));
	ck_assert_ptr_nonnull(strstr(path, "libc"));
	/* Its bias is its load address: libraries are linked at 0. */
	ck_assert_uint_eq(bias % 4096, 0);
	assert_matches(build_id, "^([0-9a-f]{2}){8,20}$|^-$");
}

static int
unshare_and_hide_proc(void)
{
	/* A new root without /proc; an ordinary user may not. */
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && chroot("/usr") == 0
	    ? 0
	    : -1;
}

TEST(module_table_without_proc)
{
	unsigned long bias, offset;
	char build_id[128], path[4096];
	size_t used = 0;

	memset(table, 0, sizeof(table));
	if (unshare_and_hide_proc() != 0) {
		puts("SKIPPED: module_table_without_proc: no namespaces");
		return;
	}
	leaktracer_modules(into_table, &used);
	ck_assert(
	    find_module((uintptr_t)into_table, &bias, &offset, build_id, path));
	ck_assert_ptr_nonnull(strstr(path, "leaktracer_lines"));
	ck_assert_str_eq(build_id, "-");
	ck_assert(
	    find_module((uintptr_t)getpid, &bias, &offset, build_id, path));
	ck_assert_ptr_nonnull(strstr(path, "libc"));
}
