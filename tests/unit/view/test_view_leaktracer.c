/*
 * lib/view/leaktracer_file.c, leak_groups.c, leaktracer_text.c: reports of
 * LeakTracer and of our recorder.
 */
#include "tests/support/command/view_symbols.h"

#include "lib/view/leaktracer_file.h"
#include "lib/view/leaktracer_text.h"
#include "tests/support/suite.h"

#define HEAD "# LeakTracer report diff_utc_mono=1762345678.123456\n"
#define MODULE                                                      \
	"# module 55550000000-55550001000 1000 5554ffff000 c0ffee " \
	"/usr/bin/served\n"
#define LEAK_1 \
	"leak, time=0012.5, stack=0x55550000124 0x9, size=24, data=a, b\n"
#define LEAK_2 "leak, time=0013.5, stack=0x55550000124 0x9, size=8, data=\n"
#define LEAK_3 "leak, time=0001.0, stack=, size=100, data=size=1, data=\n"

static struct mu_leaktracer file;
static struct mu_record records[3];
static struct mu_why why;
static char *text;

static void
tear_down(void)
{
	mu_leaktracer_release(&file);
	free(text);
	text = NULL;
}

static enum mu_status
parse_bytes(const char *bytes, size_t length)
{
	tear_down();
	why.text[0] = '\0';
	text = malloc(length + 1);
	memcpy(text, bytes, length);
	text[length] = '\0';
	mu_leaktracer_begin(&file);
	ck_assert_uint_eq(
	    mu_leaktracer_take(&file, text, length, true), length);
	return mu_leaktracer_end(&file, &why);
}

static enum mu_status
parse(const char *words)
{
	return parse_bytes(words, strlen(words));
}

TEST(test_lt10_lt11_lines)
{
	const struct mu_record *record = records;
	size_t i;

	ck_assert_int_eq(
	    parse(HEAD MODULE "# any remark\n" LEAK_1 LEAK_2 LEAK_3), MU_OK);
	ck_assert_uint_eq(file.num_leaks, 3);
	mu_sorter_begin(&file.leaks);
	for (i = 0; i < 3; i++)
		ck_assert(mu_leaktracer_next(&file, &records[i]));
	ck_assert(!mu_leaktracer_next(&file, &records[0]));
	ck_assert_uint_eq(record[0].size, 24);
	ck_assert_str_eq(record[0].time, "0012.5");
	ck_assert_uint_eq(record[0].num_frames, 2);
	/* The call is before the address that it returns to. */
	ck_assert_uint_eq(
	    file.addresses.list[record[0].frames[0]], 0x55550000123);
	ck_assert_uint_eq(file.addresses.list[record[0].frames[1]], 8);
	ck_assert_uint_eq(record[2].size, 100);
	ck_assert_uint_eq(record[2].num_frames, 0);
	ck_assert_uint_eq(file.modules.count, 1);
	ck_assert_uint_eq(file.modules.mappings[0].offset, 0x1000);
	ck_assert(file.modules.mappings[0].executable);
	ck_assert(file.modules.modules[0].has_bias);
	ck_assert_uint_eq(file.modules.modules[0].bias, 0x5554ffff000);
}

TEST(no_leaks_and_no_report)
{
	ck_assert_int_eq(parse(HEAD), MU_OK);
	ck_assert_uint_eq(file.num_leaks, 0);
	/* The original writes the title once, and some cut it off. */
	ck_assert_int_eq(parse(LEAK_1), MU_OK);
	ck_assert_int_eq(parse(""), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "not a report of LeakTracer"));
	ck_assert_int_eq(parse("leak\nleak,\n"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse("# something\n"), MU_ERR_ARGUMENT);
}

TEST(modules_with_odd_names)
{
	ck_assert_int_eq(
	    parse(HEAD "# module 1000-2000 0 1000 - /tmp/a b (deleted)\n"
		       "# module 3000-4000 0 3000 - /tmp/new\\012line\n"),
	    MU_OK);
	mu_module_table_seal(&file.modules);
	ck_assert_str_eq(file.modules.mappings[0].name, "/tmp/a b (deleted)");
	ck_assert_str_eq(file.modules.mappings[1].name, "/tmp/new\nline");
	ck_assert_ptr_null(file.modules.modules[0].id);
}

TEST(odd_lines_are_left_out)
{
	static const char *const bad[] = { "leak, time=1, stack=0x1, size=1",
		"leak, time=1, stack=1, size=1, data=",
		"leak, time=1, stack=0x1 zz, size=1, data=",
		"leak, time=now, stack=0x1, size=1, data=",
		"leak, time=1, stack=0x1, size=, data=",
		"leak, time=1, stack=0x1, size=-1, data=",
		"leak, time=1, stack=0x1, size=99999999999999999999, data=",
		"leak, time=1, stack=0x10000000000000000, size=1, data=",
		"something", "# module", "# module 1-2 0 0 -",
		"# module 2-1 0 0 - /a", "# module 12 0 0 - /a",
		"# module 1-2 x 0 - /a", "# module 1-2 0 y - /a",
		"# module 1-2 0 0 zz /a" };
	char words[512];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(words, sizeof(words), "%s%s%s\n%s", HEAD, LEAK_1,
		    bad[i], LEAK_2);
		ck_assert_msg(parse(words) == MU_PARTIAL, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(why.text, "the first is line 3"));
		ck_assert_uint_eq(file.num_leaks, 2);
		ck_assert_uint_eq(file.addresses.count, 2);
		ck_assert_uint_eq(file.modules.count, 0);
	}
}

TEST(cut_off_anywhere)
{
	static const char whole[] = HEAD MODULE LEAK_1 LEAK_2;
	size_t i, lines = strlen(HEAD);

	for (i = lines + 1; i < sizeof(whole) - 1; i++) {
		if (whole[i - 1] == '\n') {
			ck_assert_int_eq(parse_bytes(whole, i), MU_OK);
			continue;
		}
		ck_assert_msg(parse_bytes(whole, i) == MU_PARTIAL, "%zu", i);
		ck_assert_ptr_nonnull(strstr(why.text, "cut off"));
	}
	/* The size is complete. */
	parse_bytes(whole, sizeof(whole) - 2);
	ck_assert_uint_eq(file.num_leaks, 2);
	parse_bytes(whole, sizeof(whole) - 2 - strlen(" data="));
	ck_assert_uint_eq(file.num_leaks, 1);
}

/* However the text is cut into pieces, and wherever these lie later. */
TEST(pieces_of_a_file)
{
	static const char whole[] = HEAD MODULE LEAK_1 LEAK_2;
	size_t cut, taken, length = sizeof(whole) - 1;
	char piece[sizeof(whole)];

	for (cut = 0; cut <= length; cut++) {
		mu_leaktracer_release(&file);
		mu_leaktracer_begin(&file);
		memcpy(piece, whole, length);
		taken = mu_leaktracer_take(&file, piece, cut, false);
		memcpy(piece, whole, length);
		ck_assert_uint_eq(mu_leaktracer_take(&file, piece + taken,
				      length - taken, true),
		    length - taken);
		memset(piece, 'x', sizeof(piece));
		ck_assert_int_eq(mu_leaktracer_end(&file, &why), MU_OK);
		ck_assert_uint_eq(file.num_leaks, 2);
		ck_assert_str_eq(
		    file.modules.mappings[0].name, "/usr/bin/served");
	}
}

static char *
shown(size_t limit, const char *folder, struct mu_notes *notes)
{
	struct mu_location_source source = { .modules = &file.modules,
		.folder = folder };
	struct mu_leaktracer_view view = { .path = "leaks.out",
		.program = "/usr/bin/served",
		.notes = notes,
		.limit = limit };
	struct mu_leak_groups groups = { .count = 0 };
	struct mu_frames frames = { 0 };
	struct mu_record record;
	struct mu_locations names;
	char *written = NULL;
	size_t length;
	FILE *out = open_memstream(&written, &length);

	mu_module_table_seal(&file.modules);
	mu_locations_open(&names, &source, notes);
	ck_assert(mu_frames_add(&frames, &file.addresses, 0, &names));
	ck_assert(mu_frames_number(&frames));
	mu_sorter_begin(&file.leaks);
	while (mu_leaktracer_next(&file, &record)) {
		mu_frames_replace(&frames, 0, &record);
		ck_assert(mu_leak_groups_add(&groups, &record));
	}
	ck_assert_int_eq(mu_leak_groups_make(&groups, &why), MU_OK);
	view.groups = &groups;
	view.frames = &frames;
	mu_leaktracer_text(out, &view);
	fclose(out);
	mu_leak_groups_release(&groups);
	mu_frames_release(&frames);
	mu_locations_close(&names);
	return written;
}

TEST(test_lt12_words)
{
	struct mu_notes notes = { 0 };
	char *words;

	ck_assert_int_eq(parse(HEAD MODULE LEAK_1 LEAK_3 LEAK_2), MU_OK);
	words = shown(10, NULL, &notes);
	ck_assert_str_eq(words,
	    "Processing \"leaks.out\" log for \"/usr/bin/served\"\n"
	    "Matching addresses to \"/usr/bin/served\"\n"
	    "found 3 leak(s)\n"
	    "100 bytes lost in 1 blocks (one of them allocated at 0001.0),"
	    " from following call stack:\n"
	    "32 bytes lost in 2 blocks (one of them allocated at 0013.5),"
	    " from following call stack:\n"
	    "\t/src/served.c:35 operator new(unsigned long) (served)\n"
	    "\t\?\?:0 (0x8)\n");
	free(words);
}

TEST(limit)
{
	struct mu_notes notes = { 0 };
	char *words;

	parse(HEAD MODULE LEAK_1 LEAK_3 LEAK_2);
	words = shown(1, NULL, &notes);
	ck_assert_ptr_nonnull(
	    strstr(words, "found 3 leak(s)\n100 bytes lost in 1 blocks"));
	ck_assert_ptr_nonnull(
	    strstr(words, "(and 32 bytes from 1 more call stack)\n"));
	free(words);
}

/* Names of another build are none. */
TEST(build_ids_are_compared)
{
	struct mu_notes notes = { 0 };
	char *words;

	parse(HEAD "# module 55550000000-55550001000 1000 5554ffff000 abc"
		   " /usr/bin/served\n" LEAK_1 LEAK_2);
	words = shown(9, NULL, &notes);
	ck_assert_ptr_nonnull(strstr(words, "\t\?\?:0 (served+0x1123)\n"));
	ck_assert_ptr_nonnull(strstr(words,
	    "Note: /usr/bin/served is of another build now (c0ffee, the report"
	    " has abc): its names are not used.\n"));
	ck_assert_uint_eq(notes.count, 1);
	free(words);
	mu_notes_release(&notes);
	/* What is in the folder is wrong, and what is here is right. */
	parse(HEAD MODULE LEAK_1);
	words = shown(9, "/other", &notes);
	ck_assert_ptr_nonnull(strstr(words, "\t/src/served.c:35 "));
	ck_assert_ptr_nonnull(strstr(words, "of another build now (dead,"));
	free(words);
	mu_notes_release(&notes);
}

TEST(sums_saturate)
{
	struct mu_notes notes = { 0 };
	char *words;

	parse(HEAD "leak, time=1, stack=0x5, size=18446744073709551615, data=\n"
		   "leak, time=2, stack=0x5, size=18446744073709551615,"
		   " data=\n");
	words = shown(9, NULL, &notes);
	ck_assert_ptr_nonnull(
	    strstr(words, "18446744073709551615 bytes lost in 2 blocks"));
	free(words);
}

SUITE(.teardown = tear_down);
