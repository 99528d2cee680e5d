/*
 * lib/cli/logged_frame.c: frames of logs get files and lines.
 */
#include "lib/cli/logged_frame.h"
#include "lib/symbolize/frame_files.h"
#include "tests/support/suite.h"

static struct mu_symbol_helper files;
static char own[4096];
static uintptr_t bias;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static int __attribute__((noinline)) a_function(int x)
{
	__asm__ volatile("");
	return x + 1; /* A_LINE */
}

static void
setup(void)
{
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	ck_assert_int_gt(length, 0);
	own[length] = '\0';
	bias = (uintptr_t)__ehdr_start;
	ck_assert_int_eq(a_function(1), 2);
}

static void
teardown(void)
{
	mu_symbol_helper_close(&files);
}

static char *
line_of(const char *line)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!mu_logged_frame(out, &files, line, strlen(line)))
		fputs(line, out);
	fclose(out);
	return text;
}

static void
expect_same(const char *line)
{
	char *text = line_of(line);

	ck_assert_str_eq(text, line);
	free(text);
}

TEST(frame_gets_file_and_line)
{
	char line[8192], expected[8192], *text;
	unsigned long at = (uintptr_t)a_function - bias;
	int i;

	snprintf(expected, sizeof(expected),
	    "          #07  pc %016lx  %s (a_function) ", at, own);
	for (i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "          #07  pc %016lx  %s%s\n",
		    at, own, i == 0 ? "" : " (some_name+12)");
		text = line_of(line);
		ck_assert_int_eq(strncmp(text, expected, strlen(expected)), 0);
		ck_assert_ptr_nonnull(
		    strstr(text, "tests/unit/cli/test_logged_frame.c:"));
		ck_assert_int_eq(text[strlen(text) - 1], '\n');
		free(text);
	}
}

/* As the recorder has it, and as loggers put both. */
TEST(whatever_is_in_front_stays)
{
	static const char *const fronts[] = { "  ", "malloc_debug:   ",
		"Nov 22 10:00:00 host prog[7]: libmemunreachable:           ",
		"\xff\x01 #00  pc 1  #  " };
	char line[8192], expected[8192], *text;
	unsigned long at = (uintptr_t)a_function - bias;
	size_t i;

	for (i = 0; i < sizeof(fronts) / sizeof(*fronts); i++) {
		snprintf(line, sizeof(line), "%s#100  pc %016lx  %s\n",
		    fronts[i], at, own);
		snprintf(expected, sizeof(expected),
		    "%s#100  pc %016lx  %s (a_function) ", fronts[i], at, own);
		text = line_of(line);
		ck_assert_int_eq(strncmp(text, expected, strlen(expected)), 0);
		free(text);
	}
	/* Forms that are never printed. */
	for (i = 0; i < 5; i++) {
		static const char *const others[] = { " #00  pc %016lx  %s\n",
			"  #0  pc %016lx  %s\n", "  #00 pc %016lx  %s\n",
			"  #00  pc %lx  %s\n", "  #00  pc %016lx %s\n" };

		snprintf(line, sizeof(line), others[i], at, own);
		expect_same(line);
	}
}

TEST(no_byte_is_lost_behind_nul)
{
	char line[8192], *text = NULL;
	size_t length, size;
	FILE *out;
	int i;

	for (i = 0; i < 3; i++) {
		length =
		    (size_t)snprintf(line, sizeof(line), "  #00  pc %016lx  %s",
			(unsigned long)((uintptr_t)a_function - bias), own);
		memcpy(line + length, "\0\n\0x", 5);
		out = open_memstream(&text, &size);
		ck_assert(!mu_logged_frame(
		    out, &files, line, length + 1 + (size_t)i));
		fclose(out);
		ck_assert_uint_eq(size, 0);
		free(text);
	}
}

/* What is no frame, or is in no file that is there, stays as it is. */
TEST(others_stay)
{
	expect_same("  24 bytes unreachable at 55d0c8a04040\n");
	expect_same("          #00  pc 0000000000000099  <unknown>\n");
	expect_same("          #00  pc 0000000000000099  /no/such (f+1)\n");
	expect_same("          #00  pc 0000000000000099  /dev/zero\n");
	expect_same("          #00  pc 0000000000000099  /etc/passwd\n");
	expect_same("          #00  pc zz  /etc/passwd\n");
	expect_same("          #00  pc 0000000000000099  ");
	expect_same("#00  pc 0000000000000099  /etc/passwd\n");
	expect_same("          #");
	expect_same("");
	expect_same("a line that has no end");
	expect_same("   55d0c8a04040: 00 11 no stacks were recorded: \n");
}

/* More files than are kept open. */
TEST(many_files)
{
	char folder[] = "/tmp/test_logged_frame.XXXXXX", path[128], line[300];
	char *text;
	int i;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (i = 0; i < 3 * MU_FRAME_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		ck_assert_int_eq(symlink(own, path), 0);
		snprintf(line, sizeof(line), "          #00  pc %016lx  %s\n",
		    (unsigned long)((uintptr_t)a_function - bias), path);
		text = line_of(line);
		ck_assert_ptr_nonnull(strstr(text, "(a_function)"));
		free(text);
		unlink(path);
	}
	rmdir(folder);
}

SUITE(.setup = setup, .teardown = teardown);
