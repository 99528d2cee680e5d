/* lib/writers/leaks_text.c: the report, byte by byte. */
#include <regex.h>

#include "lib/report/frame_names.h"
#include "lib/writers/leaks_text.h"
#include "mu/arch/cpu.h"
#include "tests/support/suite.h"

static char buffer[8192];
static struct mu_text out;
static struct mu_frame_names frames;

static void
start(void)
{
	memset(buffer, 0, sizeof(buffer));
	out = (struct mu_text) { buffer, sizeof(buffer), 0 };
}

static struct Leak
make_leak(uintptr_t begin, size_t size)
{
	struct Leak leak;
	size_t i;

	memset(&leak, 0, sizeof(leak));
	leak.begin = begin;
	leak.size = size;
	leak.total_size = size;
	for (i = 0; i < sizeof(leak.contents) && i < size; i++)
		leak.contents[i] = (unsigned char)('a' + i % 26);
	return leak;
}

static void
put_leak(struct mu_text *text, const struct Leak *leak, bool contents)
{
	const struct mu_shown shown = { .contents = contents,
		.style = MU_STYLE_PLAIN };
	const struct mu_names names = mu_frame_names(&frames);
	struct mu_out to = mu_out_text(text);

	mu_leak_text(&to, leak, &shown, &names);
}

static const char *
leak_text(const struct Leak *leak, bool log_contents)
{
	start();
	put_leak(&out, leak, log_contents);
	ck_assert_uint_eq(out.length, strlen(buffer));
	return buffer;
}

static struct mu_report
report_of(const struct UnreachableMemoryInfo *info)
{
	return (struct mu_report) { .info = *info,
		.entries = mu_entries_of(info),
		.names = mu_frame_names(&frames) };
}

static void
report_rest(const struct UnreachableMemoryInfo *info)
{
	struct mu_report report = report_of(info);
	struct mu_out to = mu_out_text(&out);

	ck_assert(mu_leaks_text_rest(&to, &report) == (out.length > 0));
}

static const char *
info_text(const struct UnreachableMemoryInfo *info)
{
	const struct mu_shown shown = { .style = MU_STYLE_PLAIN };
	struct mu_report report = report_of(info);
	struct mu_out to = mu_out_text(&out);

	start();
	ck_assert(mu_writer_string.write(&to, &report, &shown));
	ck_assert_uint_eq(out.length, strlen(buffer));
	return buffer;
}

static void
report_summary(const struct UnreachableMemoryInfo *info)
{
	struct mu_out to = mu_out_text(&out);

	start();
	mu_leaks_text_summary(&to, info);
}

TEST(plural)
{
	struct UnreachableMemoryInfo info;

	memset(&info, 0, sizeof(info));
	ck_assert_str_eq(info_text(&info),
	    "  0 bytes in 0 unreachable allocations\n"
	    "  ABI: '" MU_ABI "'\n\n");
	info.num_leaks = 1;
	info.leak_bytes = 24;
	ck_assert_str_eq(info_text(&info),
	    "  24 bytes in 1 unreachable allocation\n"
	    "  ABI: '" MU_ABI "'\n\n");
	info.num_leaks = 2;
	info.leak_bytes = 48;
	ck_assert_str_eq(info_text(&info),
	    "  48 bytes in 2 unreachable allocations\n"
	    "  ABI: '" MU_ABI "'\n\n");
}

TEST(whole_report)
{
	struct UnreachableMemoryInfo info;
	struct Leak leaks[2] = { make_leak(0x7f0012345670, 40),
		make_leak(0x55aa0010, 24) };

	leaks[0].referenced_count = 1;
	leaks[0].referenced_size = 24;
	memset(&info, 0, sizeof(info));
	info.leaks = leaks;
	info.num_reported = 2;
	info.num_leaks = 3;
	info.leak_bytes = 88;
	ck_assert_str_eq(info_text(&info),
	    "  88 bytes in 3 unreachable allocations\n"
	    "  ABI: '" MU_ABI "'\n"
	    "\n"
	    "  40 bytes unreachable at 7f0012345670\n"
	    "   referencing 24 unreachable bytes in 1 allocation\n"
	    "\n"
	    "  24 bytes unreachable at 55aa0010\n"
	    "\n");
}

/* Both entries lead to one block of 24 bytes, and the limit cut two more. */
TEST(shared_and_cut_entries_are_said)
{
	struct Leak leaks[2] = { make_leak(0x7f0012345670, 40),
		make_leak(0x55aa0010, 24) };
	struct UnreachableMemoryInfo info = { .leaks = leaks,
		.num_reported = 2,
		.num_leaks = 6,
		.leak_bytes = 188,
		.num_entries = 4,
		.unreported_leaks = 3,
		.unreported_bytes = 100 };

	leaks[0].referenced_count = leaks[1].referenced_count = 1;
	leaks[0].referenced_size = leaks[1].referenced_size = 24;
	start();
	report_rest(&info);
	ck_assert_str_eq(buffer,
	    "  Several entries lead to the same blocks and each counts them:"
	    " together they have 88 bytes in 3 allocations\n"
	    "  ... and 2 more entries, 100 bytes in 3 allocations\n");
	info.num_reported = 1;
	info.num_entries = 2;
	info.unreported_leaks = 4;
	start();
	report_rest(&info);
	ck_assert_str_eq(
	    buffer, "  ... and 1 more entry, 100 bytes in 4 allocations\n");
	info.num_entries = 1;
	start();
	report_rest(&info);
	ck_assert_str_eq(buffer, "");
	info.num_reported = info.num_entries = 0;
	start();
	report_rest(&info);
	ck_assert_str_eq(
	    buffer, "  ... and 100 bytes in 4 allocations without an entry\n");
}

/* Entries that differ in their addresses only, one after the other. */
static const char *
folded_text(struct Leak *leaks, size_t count, bool contents, bool fold)
{
	const struct mu_shown shown = {
		.contents = contents, .fold = fold, .style = MU_STYLE_PLAIN
	};
	struct UnreachableMemoryInfo info = { .leaks = leaks,
		.num_reported = count };
	struct mu_report report = report_of(&info);
	struct mu_out to = mu_out_text(&out);

	start();
	mu_leaks_text_entries(&to, &report, &shown);
	return buffer;
}

TEST(equal_entries_fold)
{
	struct Leak leaks[5];
	size_t i;

	for (i = 0; i < 5; i++)
		leaks[i] = make_leak(0x1000 * (i + 1), i < 4 ? 64 : 32);
	ck_assert_str_eq(folded_text(leaks, 5, false, true),
	    "  64 bytes unreachable at 1000\n"
	    "   and 3 more like it\n\n"
	    "  32 bytes unreachable at 5000\n\n");
	ck_assert_ptr_null(
	    strstr(folded_text(leaks, 5, false, false), "more like"));
	leaks[1].referenced_count = 1;
	leaks[1].referenced_size = 8;
	ck_assert_ptr_nonnull(
	    strstr(folded_text(leaks, 5, false, true), "and 1 more like"));
	leaks[3].contents[5] = 'z';
	ck_assert_ptr_null(
	    strstr(folded_text(leaks, 5, true, true), "more like"));
	leaks[3].backtrace.num_frames = 1;
	ck_assert_ptr_null(
	    strstr(folded_text(leaks, 5, false, true), "more like"));
}

TEST(partial_answer_says_so)
{
	struct UnreachableMemoryInfo info;

	memset(&info, 0, sizeof(info));
	info.status = MEMUNREACHABLE_PARTIAL;
	strcpy(info.reason, "2 pages could not be read");
	ck_assert_str_eq(info_text(&info),
	    "  0 bytes in 0 unreachable allocations\n"
	    "  ABI: '" MU_ABI "'\n"
	    "  Partial: 2 pages could not be read\n\n");
}

TEST(abi_of_this_process)
{
#if defined(__x86_64__)
	ck_assert_str_eq(MU_ABI, "x86_64");
#elif defined(__aarch64__)
	ck_assert_str_eq(MU_ABI, "arm64");
#endif
}

TEST(referencing_and_similar)
{
	struct Leak leak = make_leak(0xabc0, 16);

	leak.referenced_count = 2;
	leak.referenced_size = 100;
	ck_assert_str_eq(leak_text(&leak, false),
	    "  16 bytes unreachable at abc0\n"
	    "   referencing 100 unreachable bytes in 2 allocations\n");
	leak.similar_count = 1;
	leak.similar_size = 16;
	ck_assert_str_eq(leak_text(&leak, false),
	    "  16 bytes unreachable at abc0\n"
	    "   referencing 100 unreachable bytes in 2 allocations\n"
	    "   and 16 similar unreachable bytes in 1 allocation\n");
	leak.similar_referenced_count = 1;
	leak.similar_referenced_size = 8;
	ck_assert_str_eq(leak_text(&leak, false),
	    "  16 bytes unreachable at abc0\n"
	    "   referencing 100 unreachable bytes in 2 allocations\n"
	    "   and 16 similar unreachable bytes in 1 allocation\n"
	    "   referencing 8 unreachable bytes in 1 allocation\n");
	leak.similar_count = 0;
	leak.referenced_count = 0;
	ck_assert_str_eq(
	    leak_text(&leak, false), "  16 bytes unreachable at abc0\n");
}

TEST(header_word)
{
	struct Leak leak = make_leak(0x1000, 32);

	ck_assert_str_eq(leak_text(&leak, true),
	    "  32 bytes unreachable at 1000\n"
	    "   contents:\n"
	    "   1000: 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 "
	    "abcdefghijklmnop\n"
	    "   1010: 71 72 73 74 75 76 77 78 79 7a 61 62 63 64 65 66 "
	    "qrstuvwxyzabcdef\n");
	leak.size = 33;
	ck_assert_ptr_nonnull(strstr(
	    leak_text(&leak, true), "\n   first 32 bytes of contents:\n"));
	ck_assert_ptr_null(strstr(leak_text(&leak, false), "contents"));
}

TEST(last_row_is_padded)
{
	struct Leak leak = make_leak(0x2000, 20);

	ck_assert_str_eq(leak_text(&leak, true),
	    "  20 bytes unreachable at 2000\n"
	    "   contents:\n"
	    "   2000: 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 "
	    "abcdefghijklmnop\n"
	    "   2010: 71 72 73 74 "
	    "                                    "
	    "qrst\n");
	leak = make_leak(0x2000, 1);
	ck_assert_str_eq(leak_text(&leak, true),
	    "  1 bytes unreachable at 2000\n"
	    "   contents:\n"
	    "   2000: 61 "
	    "                                             "
	    "a\n");
}

TEST(printable)
{
	struct Leak leak = make_leak(0x2000, 4);

	memcpy(leak.contents, "\x1f\x20\x7e\x7f", 4);
	ck_assert_ptr_nonnull(strstr(leak_text(&leak, true), ". ~.\n"));
	ck_assert_ptr_nonnull(strstr(buffer, ": 1f 20 7e 7f "));
}

TEST(two_digits)
{
	struct Leak leak = make_leak(0x2000, 4);

	memcpy(leak.contents, "\x00\x80\xff\x0a", 4);
	ck_assert_ptr_nonnull(
	    strstr(leak_text(&leak, true), "   2000: 00 80 ff 0a    "));
	ck_assert_ptr_nonnull(strstr(buffer, " ....\n"));
}

TEST(decimal_counts)
{
	struct Leak leak = make_leak(0x3000, 48);

	ck_assert_ptr_nonnull(
	    strstr(leak_text(&leak, true), "   first 32 bytes of contents:\n"));
	leak.referenced_count = 1;
	leak.referenced_size = 255;
	leak_text(&leak, true);
	ck_assert_ptr_nonnull(strstr(buffer, "referencing 255 "));
	ck_assert_ptr_nonnull(strstr(buffer, "first 32 bytes of contents:"));
}

TEST(case_backtrace)
{
	struct Leak leak = make_leak(0x3000, 8);

	leak.backtrace.num_frames = 2;
	leak.backtrace.frames[0] = 0x401abc;
	leak.backtrace.frames[1] = 0x7f0011223344;
	ck_assert_str_eq(leak_text(&leak, false),
	    "  8 bytes unreachable at 3000\n"
	    "          #00  pc 0000000000401abc  <unknown>\n"
	    "          #01  pc 00007f0011223344  <unknown>\n");
	leak.backtrace.num_frames = (size_t)-1;
	leak_text(&leak, false);
	ck_assert_ptr_nonnull(strstr(buffer, "#15  pc "));
	ck_assert_ptr_null(strstr(buffer, "#16  pc "));
}

TEST(consumer_regex)
{
	struct Leak leak = make_leak(0x7f00deadbee0, 4096);
	regmatch_t match;
	regex_t regex;

	leak_text(&leak, false);
	ck_assert_int_eq(
	    regcomp(&regex, "[0-9]+ bytes unreachable at [A-Za-z0-9]+",
		REG_EXTENDED),
	    0);
	ck_assert_int_eq(regexec(&regex, buffer, 1, &match, 0), 0);
	ck_assert_int_eq(strncmp(buffer + match.rm_so,
			     "4096 bytes unreachable at 7f00deadbee0\n",
			     (size_t)(match.rm_eo - match.rm_so) + 1),
	    0);
	regfree(&regex);
}

TEST(summary_line)
{
	struct UnreachableMemoryInfo info;

	memset(&info, 0, sizeof(info));
	info.num_leaks = 1;
	info.leak_bytes = 24;
	info.num_allocations = 1000;
	info.allocation_bytes = 65536;
	report_summary(&info);
	ck_assert_str_eq(buffer,
	    "24 bytes in 1 allocation unreachable out of 65536 bytes in 1000"
	    " allocations");
	info.num_leaks = 0;
	info.leak_bytes = 0;
	info.num_allocations = 1;
	report_summary(&info);
	ck_assert_str_eq(buffer,
	    "0 bytes in 0 allocations unreachable out of 65536 bytes in 1"
	    " allocation");
}

TEST(failure_says_why)
{
	static const char first[] = "Failed to get unreachable memory\n";
	struct UnreachableMemoryInfo info;
	int status;

	for (status = MEMUNREACHABLE_BAD_ARGUMENT;
	     status <= MEMUNREACHABLE_TARGET_GONE; status++) {
		memset(&info, 0, sizeof(info));
		info.status = status;
		strcpy(info.reason, "because of the test");
		info_text(&info);
		ck_assert_int_eq(strncmp(buffer, first, strlen(first)), 0);
		ck_assert_ptr_nonnull(strstr(buffer, "\nNot checked: "));
		ck_assert_ptr_nonnull(
		    strstr(buffer, ": because of the test\n"));
		ck_assert_ptr_null(strstr(buffer, "unknown status"));
		ck_assert_ptr_null(strstr(buffer, "SELinux"));
		ck_assert_int_eq(buffer[out.length - 1], '\n');
	}
	memset(&info, 0, sizeof(info));
	info.status = MEMUNREACHABLE_TIMEOUT;
	info_text(&info);
	ck_assert_ptr_nonnull(strstr(buffer, "\nNot checked: timed out\n"));
}

TEST(short_buffer_measures)
{
	struct Leak leak = make_leak(0x3000, 48);
	struct mu_text measure = { NULL, 0, 0 };
	char small[20];
	struct mu_text cut = { small, sizeof(small), 0 };

	leak_text(&leak, true);
	put_leak(&measure, &leak, true);
	ck_assert_uint_eq(measure.length, out.length);
	put_leak(&cut, &leak, true);
	ck_assert_uint_eq(cut.length, out.length);
	ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
	ck_assert_int_eq(strncmp(small, buffer, sizeof(small) - 1), 0);
}
