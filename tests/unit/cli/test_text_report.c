/* lib/writers/text_report.c and its parts, compared byte by byte. */
#include "lib/writers/text_report.h"
#include "lib/writers/verdict_text.h"
#include "mu/arch/cpu.h"
#include "tests/support/command/cli_answer.h"
#include "tests/support/suite.h"

static struct Leak leaks[3];
static struct mu_arena_usage arenas[2];
static struct mu_report answer;
static struct mu_shown shown;
static char *text;

static void
set_up(void)
{
	answer = cli_answer(leaks, arenas);
	answer.names = cli_names;
	shown = (struct mu_shown) { .style = mu_style_choose(
					MU_STYLE_NEVER, false, NULL, NULL) };
}

static void
tear_down(void)
{
	free(text);
	text = NULL;
}

static const char *
written(void)
{
	size_t length;
	struct mu_out out;
	FILE *file;

	free(text);
	file = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(file);
	out = mu_out_file(file);
	ck_assert(mu_text_report(&out, &answer, &shown));
	fclose(file);
	return text;
}

static void
assert_has(const char *part)
{
	ck_assert_msg(
	    strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

TEST(whole)
{
	ck_assert_str_eq(written(),
	    "Process 4711, /usr/sbin/served, glibc 2.36, 12 threads stopped for"
	    " 3.2 ms (fork), 2 tries, 412.0 ms in all\n"
	    "Heap: 12.0 MiB reachable, 4.2 KiB unreachable, 5.0 MiB free but"
	    " held by malloc\n"
	    "  arena 7fee5cdf6c60 (main) of 10.0 MiB: 6.0 MiB in use; free:"
	    " 1.0 MiB in bins, 3.9 KiB in tcaches, 3.0 MiB top\n"
	    "  arena 7fee00000030 of 7.0 MiB: 6.0 MiB in use; free: 1000 bytes"
	    " in bins, 0 bytes in tcaches, 1.0 MiB top\n"
	    "  mmapped: 1.0 MiB, 1.0 MiB of it in use, in blocks that have a"
	    " mapping of their own\n"
	    "Verdict: lost: 4.2 KiB, less than 1% of the live bytes.\n"
	    "Verdict: in use: 71% of the heap is reachable. Only a later look"
	    " can tell\n"
	    "whether it grows.\n"
	    "  4321 bytes in 9 unreachable allocations\n"
	    "  ABI: '" MU_ABI "'\n"
	    "\n"
	    "  40 bytes unreachable at 7fee12345670\n"
	    "   referencing 80 unreachable bytes in 2 allocations\n"
	    "   vtable for Foo (libfoo.so.1+0x1020)\n"
	    "\n"
	    "  7 bytes unreachable at 55aa0010\n"
	    "\n"
	    "  16 bytes unreachable at 55aa0020\n"
	    "          #00  pc 0000000000005000  /usr/lib/libfoo.so.1"
	    " (Foo::make(int)) /src/foo.cc:42\n"
	    "          #01  pc 0000000000000099  <unknown>\n"
	    "\n"
	    "  ... and 2 more entries, 72 bytes in 2 allocations\n"
	    "\n");
}

TEST(contents_with_names)
{
	shown.contents = true;
	written();
	assert_has("  40 bytes unreachable at 7fee12345670\n"
		   "   referencing 80 unreachable bytes in 2 allocations\n"
		   "   first 32 bytes of contents:\n"
		   "   7fee12345670: 00 00 00 00 00 00 00 00 20 10 00 00 00 7f"
		   " 00 00 ........ .......  -> libfoo.so.1+0x1020 vtable for"
		   " Foo\n"
		   "   7fee12345680: 00 00 00 00 00 00 00 00 00 90 00 00 00 7f"
		   " 00 00 ................  -> libfoo.so.1+0x9000\n"
		   "\n");
	/* Seven bytes are no word. */
	assert_has("   55aa0010: 20 10 00 00 00 7f 00    ");
	ck_assert_ptr_null(strstr(text, "vtable for Foo ("));
}

TEST(types)
{
	answer.names.find_type = cli_find_type;
	written();
	assert_has("   referencing 80 unreachable bytes in 2 allocations\n"
		   "   Session\n"
		   "\n"
		   "  7 bytes unreachable at 55aa0010\n"
		   "   text\n"
		   "\n"
		   "  16 bytes unreachable at 55aa0020\n"
		   "   probably Gtk\\x0aWindow (at byte 96)\n"
		   "          #00");
	shown.contents = true;
	written();
	assert_has("   text \"A=\\x1bb\"\n   contents:\n");
}

/* The library's string is the command's report without what is around it. */
TEST(same_as_the_library)
{
	static char string[8192];
	struct mu_text text_of = { string, sizeof(string), 0 };
	struct mu_out out = mu_out_text(&text_of);
	const char *totals;

	shown.contents = true;
	written();
	ck_assert(mu_writer_string.write(&out, &answer, &shown));
	totals = strstr(text, "  4321 bytes in 9 ");
	ck_assert_ptr_nonnull(totals);
	ck_assert_int_eq(strncmp(totals, string, text_of.length), 0);
	ck_assert_str_eq(totals + text_of.length, "\n");
}

TEST(place_without_a_name)
{
	cli_put_word(&leaks[0], 1, 0);
	written();
	assert_has("   pointing into libfoo.so.1+0x9000\n");
}

TEST(no_symbols)
{
	answer.names.find = NULL;
	shown.contents = true;
	written();
	ck_assert_ptr_null(strstr(text, "libfoo"));
	assert_has("#00  pc 00007f0000005000  <unknown>\n");
}

TEST(core_and_little_known)
{
	answer.stop = "core";
	answer.info.pause_ns = 0;
	answer.info.tries = 0;
	answer.info.num_threads = 1;
	memset(&answer.usage, 0, sizeof(answer.usage));
	written();
	ck_assert_int_eq(strncmp(text,
			     "Core of process 4711, /usr/sbin/served, glibc"
			     " 2.36, 1 thread, 412.0 ms in all\n"
			     "  4321 bytes in 9 ",
			     90),
	    0);
	answer.pid = 0;
	answer.program[0] = answer.allocator[0] = '\0';
	answer.stop = NULL;
	answer.info.total_ns = 0;
	answer.info.num_threads = 0;
	ck_assert_int_eq(strncmp(written(), "Process\n  4321", 14), 0);
}

TEST(names_give_no_orders)
{
	strcpy(answer.program, "/tmp/\x1b[2J\xff");
	strcpy(answer.allocator, "x\n");
	strcpy(answer.info.reason, "no \x1b]0;\x07 module");
	written();
	assert_has("Process 4711, /tmp/\\x1b[2J\\xff, x\\x0a, 12");
	assert_has("  Note: no \\x1b]0;\\x07 module\n");
	ck_assert_ptr_null(strchr(text, 0x1b));
	answer.info.status = MEMUNREACHABLE_PARTIAL;
	written();
	assert_has("  Partial: no \\x1b]0;\\x07 module\n");
	/* As long as it gets, and not terminated by its writer. */
	memset(answer.info.reason, 0x1b, sizeof(answer.info.reason));
	written();
	assert_has("  Partial: \\x1b\\x1b");
	ck_assert_ptr_null(strchr(text, 0x1b));
}

TEST(colours)
{
	shown.style = mu_style_choose(MU_STYLE_ALWAYS, false, NULL, NULL);
	shown.contents = true;
	written();
	assert_has("\033[1m  4321 bytes in 9 unreachable allocations\033[0m\n");
	assert_has("\033[1m  40 bytes unreachable at 7fee12345670\033[0m\n");
	assert_has("\033[2m   first 32 bytes of contents:\033[0m\n");
	assert_has("\033[2m  arena 7fee00000030");
}

TEST(not_checked)
{
	answer.info.status = MEMUNREACHABLE_TIMEOUT;
	written();
	ck_assert_ptr_null(strstr(text, "bytes"));
	assert_has("Process 4711, /usr/sbin/served");
	assert_has("\nFailed to get unreachable memory\n"
		   "not checked: timed out; give it more time, such as"
		   " --timeout=120\n");
	strcpy(answer.info.reason, "it is; cure it");
	answer.cure = strlen("it is; ");
	written();
	assert_has("not checked: timed out: it is; cure it\n");
	/* A semicolon in a name is no remedy. */
	strcpy(answer.info.reason, "no /tmp/a; b");
	answer.cure = 0;
	written();
	assert_has("not checked: timed out: no /tmp/a; b; give it more time,"
		   " such as --timeout=120\n");
	strcpy(answer.info.reason, "it is; cure it");
	answer.cure = strlen("it is; ");
	answer.info.status = 1000;
	written();
	assert_has("not checked: unknown status: it is; cure it\n");
}

static const char *
verdict(const struct mu_heap_usage *usage)
{
	size_t length;
	struct mu_out out;
	FILE *file;

	free(text);
	file = open_memstream(&text, &length);
	out = mu_out_file(file);
	mu_verdict_text(&out, usage, &shown.style);
	fclose(file);
	return text;
}

TEST(verdicts)
{
	struct mu_heap_usage usage = { 0 };

	ck_assert_str_eq(verdict(&usage), "");
	usage.live_reachable = 1 << 20;
	usage.live_unreachable = 3 << 20;
	verdict(&usage);
	assert_has("\nVerdict: lost: 3.0 MiB, 75% of the live bytes.\n");
	usage.live_unreachable = 0;
	usage.free_held = 9 << 20;
	verdict(&usage);
	assert_has("\nVerdict: held free: 90% of the heap is free, between");
	ck_assert_ptr_null(strstr(text, "malloc_trim"));
	usage.arenas = arenas;
	usage.num_arenas = 1;
	arenas[0].bins = 9 << 20;
	verdict(&usage);
	assert_has("\nmalloc_trim(3) gives back whole pages of it.\n");
	arenas[0].bins = 0;
	arenas[0].top = 9 << 20;
	verdict(&usage);
	assert_has("\nVerdict: held free: 90% of the heap is free at the ends");
	usage = (struct mu_heap_usage) { .live_reachable = 1000 };
	verdict(&usage);
	ck_assert_ptr_null(strstr(text, "Verdict"));
}

/* Threads get arenas of their own: there can be hundreds. */
TEST(many_arenas)
{
	struct mu_arena_usage many[9] = { 0 };
	struct mu_heap_usage usage = {
		.arenas = many, .num_arenas = 5, .live_reachable = 1
	};
	size_t i;

	for (i = 0; i < 9; i++)
		many[i] = (struct mu_arena_usage) {
			.address = 0xa0 + i, .span = 1024, .bins = i % 3
		};
	verdict(&usage);
	for (i = 0; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "  arena a%zu", i);
		assert_has(name);
	}
	usage.num_arenas = 9;
	verdict(&usage);
	assert_has("  arena a2 of 1.0 KiB");
	assert_has("  arena a5 of");
	assert_has("  arena a8 of");
	assert_has("  arena a1 of");
	assert_has("  5 other arenas of 5.0 KiB: 0 bytes in use; free: 2 bytes"
		   " in bins, ");
	ck_assert_ptr_null(strstr(text, "arena a4"));
}

SUITE(.setup = set_up, .teardown = tear_down);
