/* lib/view/heap_dump_file.c: every version of the format, and damaged files. */
#include "lib/view/heap_dump_file.h"
#include "tests/support/command/whole_dump.h"
#include "tests/support/suite.h"

#define HEAD                                \
	"Android Native Heap Dump v1.2\n\n" \
	"Build fingerprint: 'unknown'\n\n"  \
	"Total memory: 96\n"                \
	"Allocation records: 2\n"           \
	"Backtrace size: 16\n\n"
#define RECORD_1 "z 0  sz       40  num    2  bt 55550000123 7f0000002abc\n"
#define RECORD_2 "z 1  sz       16  num    1  bt\n"
#define MAPS_1                                                          \
	"55550000000-55550001000 r-xp 00000000 08:01 12    /bin/prog\n" \
	"7f0000002000-7f0000003000 r-xp 00001000 08:01 99  /lib/a b.so\n"
#define TAIL "MAPS\n" MAPS_1 "END\n"

static struct mu_heap_dump dump;
static struct mu_record *records;
static size_t num_records;
static struct mu_why why;
static char *text;

static void
tear_down(void)
{
	mu_heap_dump_release(&dump);
	free(records);
	records = NULL;
	free(text);
	text = NULL;
}

static enum mu_status
parse_bytes(const char *bytes, size_t length)
{
	enum mu_status status;

	tear_down();
	why.text[0] = '\0';
	text = malloc(length + 1); /* so that ASan sees a step too far */
	memcpy(text, bytes, length);
	text[length] = '\0';
	status = parse_dump(&dump, text, length, &why);
	records = dump_records(&dump, &num_records);
	ck_assert_ptr_nonnull(records);
	return status;
}

static enum mu_status
parse(const char *words)
{
	return parse_bytes(words, strlen(words));
}

static void
assert_partial(const char *words, const char *reason)
{
	ck_assert_int_eq(parse(words), MU_PARTIAL);
	ck_assert_msg(strstr(why.text, reason) != NULL, "%s", why.text);
}

TEST(test_md44_whole)
{
	const struct mu_record *record;

	ck_assert_int_eq(parse(HEAD RECORD_1 RECORD_2 TAIL), MU_OK);
	ck_assert_str_eq(why.text, "");
	ck_assert_uint_eq(dump.version, 2);
	ck_assert_str_eq(dump.fingerprint, "unknown");
	ck_assert_uint_eq(dump.stated_bytes, 96);
	ck_assert_uint_eq(num_records, 2);
	record = &records[0];
	ck_assert(!record->own);
	ck_assert_uint_eq(record->size, 40);
	ck_assert_uint_eq(record->count, 2);
	ck_assert_uint_eq(record->bytes, 80);
	ck_assert_uint_eq(record->num_frames, 2);
	ck_assert_uint_eq(record->frames[0], 0x55550000123);
	ck_assert_uint_eq(record->frames[1], 0x7f0000002abc);
	/* Android's own viewer leaves it out. */
	ck_assert(records[1].own);
	ck_assert_uint_eq(records[1].num_frames, 0);
	ck_assert_uint_eq(dump.modules.count, 2);
	ck_assert_str_eq(dump.modules.mappings[1].name, "/lib/a b.so");
	ck_assert_uint_eq(dump.modules.mappings[1].offset, 0x1000);
	ck_assert_uint_eq(
	    mu_module_table_find(&dump.modules, 0x55550000fff), 0);
	ck_assert_uint_eq(
	    mu_module_table_find(&dump.modules, 0x55550001000), 2);
	ck_assert_uint_eq(mu_module_table_find(&dump.modules, 0), 2);
}

TEST(test_md45_version_1_0)
{
	ck_assert_int_eq(parse("Android Native Heap Dump v1.0\n\n"
			       "Total memory: 405312\n"
			       "Allocation records: 1\n"
			       "Backtrace size: 16\n\n"
			       "z 0  sz     1024  num   16  bt"
			       " 0000055550000123 00007f0000002abc\n" TAIL),
	    MU_OK);
	ck_assert_uint_eq(dump.version, 0);
	ck_assert_str_eq(dump.fingerprint, "");
	ck_assert_uint_eq(records[0].count, 1);
	ck_assert_uint_eq(records[0].frames[0], 0x55550000123);
}

TEST(test_md45_version_1_1)
{
	ck_assert_int_eq(parse("Android Native Heap Dump v1.1\n\n"
			       "Total memory: 405312\n"
			       "Allocation records: 1\n"
			       "Backtrace size: 16\n\n"
			       "z 1  sz     1024  num   16  bt 0005550a\n"
			       "MAPS\n0005550000-0005551000 r-xp 00000000"
			       " 08:01 12 /system/lib/libc.so\nEND\n"),
	    MU_OK);
	ck_assert_uint_eq(records[0].count, 16);
	ck_assert_uint_eq(records[0].bytes, 16384);
}

TEST(test_md45_versions_to_come_and_others)
{
	ck_assert_int_eq(
	    parse("Android Native Heap Dump v1.3\nNew thing: 1\n" TAIL), MU_OK);
	ck_assert_uint_eq(dump.version, 3);
	ck_assert_int_eq(
	    parse("Android Native Heap Dump v2.0\n" TAIL), MU_ERR_ARGUMENT);
	ck_assert_int_eq(
	    parse("Android Native Heap Dump v1.\n" TAIL), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse("Android Native Heap Dump"
			       " v1.99999999999999999999\n" TAIL),
	    MU_ERR_ARGUMENT);
}

TEST(test_md45_bt_info)
{
	const struct mu_frame_info *info;

	ck_assert_int_eq(
	    parse(HEAD RECORD_1
		"  bt_info {\"/bin/prog\" 123 \"operator\"\"_s(char)\" 3}"
		" {\"\" 0 \"\" 0} {\"/too/many\" 1 \"x\" 1}\n" RECORD_2 TAIL),
	    MU_OK);
	ck_assert_uint_eq(dump.num_infos, 2);
	info = mu_frame_infos_find(dump.infos, dump.num_infos, 0x55550000123);
	ck_assert_ptr_nonnull(info);
	ck_assert_str_eq(info->module, "/bin/prog");
	ck_assert_str_eq(info->function, "operator\"\"_s(char)");
	ck_assert_uint_eq(info->offset, 0x123);
	info = mu_frame_infos_find(dump.infos, dump.num_infos, 0x7f0000002abc);
	ck_assert_str_eq(info->function, "");
	ck_assert_ptr_null(mu_frame_infos_find(dump.infos, dump.num_infos, 9));
}

TEST(bt_info_of_one_address_twice)
{
	ck_assert_int_eq(parse("Android Native Heap Dump v1.2\n"
			       "z 0 sz 1 num 1 bt 12\n"
			       "  bt_info {\"/a\" 1 \"first\" 1}\n"
			       "z 0 sz 2 num 1 bt 12 11\n"
			       "  bt_info {\"/a\" 1 \"again\" 1}\n" TAIL),
	    MU_OK);
	ck_assert_uint_eq(dump.num_infos, 1);
	ck_assert_str_eq(dump.infos[0].function, "first");
}

TEST(bt_info_that_is_none)
{
	static const char *const bad[] = { "{", "{\"", "{\"a", "{\"a\" 1",
		"{\"a\" 1 \"b\" 2", "{\"a\" x \"b\" 2}", "{\"a\" 1 \"b\" }",
		"{\"a\"  1 \"b\" 2}", "{\"a\" 1 \"b\" 10000000000000000}", "a",
		"{\"a\" 1 \"b\" 2} }" };
	char words[512];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(words, sizeof(words), "%s%s  bt_info %s\n%s%s", HEAD,
		    RECORD_1, bad[i], RECORD_2, TAIL);
		assert_partial(words,
		    "1 line of the file cannot be read and is"
		    " left out, the first is line 10");
		ck_assert_uint_eq(num_records, 2);
	}
	assert_partial(HEAD "  bt_info {\"\" 0 \"\" 0}\n" TAIL, "line 9");
}

TEST(build_ids)
{
	const struct mu_module *module;

	ck_assert_int_eq(parse(HEAD RECORD_1 RECORD_2
			     "MAPS\n" MAPS_1 "# build-id 0123abCD /lib/a b.so\n"
			     "END\n"
			     "# a remark\n\n"
			     "# build-id - /bin/none\n"
			     "# module 1-2 0 0 ff /bin/prog\n"),
	    MU_OK);
	module = dump.modules.modules;
	ck_assert_uint_eq(dump.modules.count, 2);
	ck_assert_str_eq(module[0].id->hex, "ff");
	ck_assert_str_eq(module[1].id->hex, "0123abCD");
	ck_assert_str_eq(module[1].id->path, "/lib/a b.so");
	ck_assert(!module[1].has_bias);
	assert_partial(HEAD RECORD_1 RECORD_2 TAIL "# build-id xyz /a\n",
	    "the first is line 15");
	assert_partial(HEAD RECORD_1 RECORD_2 TAIL "# build-id 12\n",
	    "the first is line 15");
}

TEST(what_the_recorder_says)
{
	ck_assert_int_eq(
	    parse(HEAD RECORD_1 RECORD_2 TAIL
		"# sampled: one stack in 524288 bytes\n#\n#other\n"),
	    MU_OK);
	ck_assert_uint_eq(dump.modules.num_remarks, 1);
	ck_assert_str_eq(
	    dump.modules.remarks[0], "sampled: one stack in 524288 bytes");
	assert_partial(HEAD RECORD_1 RECORD_2 TAIL "# incomplete: no memory\n",
	    "the recorder could not write all of it");
}

TEST(no_maps)
{
	ck_assert_int_eq(parse(HEAD RECORD_1 RECORD_2
			     "MAPS\nCould not open /proc/self/maps\nEND\n"),
	    MU_OK);
	ck_assert(!dump.has_maps);
	ck_assert_uint_eq(dump.modules.count, 0);
}

TEST(test_md46_behind_other_text)
{
	ck_assert_int_eq(
	    parse("hello\nworld\n" HEAD RECORD_1 RECORD_2 TAIL "more\n"),
	    MU_OK);
	ck_assert_uint_eq(num_records, 2);
	ck_assert_uint_eq(dump.lines_after, 1);
}

TEST(lines_of_another_system)
{
	ck_assert_int_eq(
	    parse("Android Native Heap Dump v1.2\r\n\r\n"
		  "Allocation records: 1\r\n"
		  "z 0 sz 1 num 1 bt aB Cd\r\n"
		  "MAPS\r\n1000-2000 r-xp 0 00:00 0 /a\r\nEND\r\n"),
	    MU_OK);
	ck_assert_uint_eq(records[0].frames[1], 0xcd);
	ck_assert_str_eq(dump.modules.mappings[0].name, "/a");
}

/* At every length there is an answer, and only the whole is complete. */
TEST(cut_off_anywhere)
{
	static const char whole[] = HEAD RECORD_1 RECORD_2 TAIL;
	size_t i, title = strlen("Android Native Heap Dump v1.2\n");
	enum mu_status status;

	for (i = 0; i < sizeof(whole) - 2; i++) {
		status = parse_bytes(whole, i);
		ck_assert_int_eq(
		    status, i < title ? MU_ERR_ARGUMENT : MU_PARTIAL);
		ck_assert_msg(
		    i < title || strstr(why.text, "cut off"), "%zu", i);
		ck_assert_uint_le(num_records, 2);
	}
	ck_assert_int_eq(parse_bytes(whole, i), MU_OK);
	assert_partial(HEAD RECORD_1 "z 1  sz   16  num    1  bt 12",
	    "the file is cut off after line 9: what follows is missing");
	ck_assert_uint_eq(num_records, 1);
}

TEST(fewer_records_than_told)
{
	assert_partial(
	    HEAD RECORD_1 TAIL, "the file is to have 2 records, and has 1");
}

TEST(nothing_of_the_kind)
{
	ck_assert_int_eq(parse(""), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "it is not a heap dump"));
	ck_assert_int_eq(parse("\n\n\n"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse_bytes("\0\0\0\n\0", 5), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse(RECORD_1 TAIL), MU_ERR_ARGUMENT);
}

TEST(odd_records_are_left_out)
{
	static const char *const bad[] = { "z", "z 1 sz", "z 1 sz 4 num 1",
		"z x sz 4 num 1 bt", "z 1 sz -4 num 1 bt", "z 1 sz 4 num 1 at",
		"z 1 sz 99999999999999999999 num 1 bt",
		"z 1 sz 4 num 1 bt 1 2 10000000000000000",
		"z 1 sz 4 num 1 bt 1 0x2", "z 1 num 4 sz 1 bt", "garbage" };
	char words[512];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(words, sizeof(words), "%s%s%s\n%s%s", HEAD, RECORD_1,
		    bad[i], RECORD_2, TAIL);
		assert_partial(words, "line 10");
		ck_assert_uint_eq(num_records, 2);
		ck_assert_uint_eq(dump.addresses.count, 2);
	}
}

TEST(frames_end_at_zero)
{
	ck_assert_int_eq(parse("Android Native Heap Dump v1.2\n"
			       "z 0 sz 1 num 1 bt 5 6 0 7\n" TAIL),
	    MU_OK);
	ck_assert_uint_eq(records[0].num_frames, 2);
}

TEST(too_many_frames)
{
	char words[8192] = "Android Native Heap Dump v1.2\n";
	size_t i;

	for (i = 0; i < 2; i++) {
		strcat(words, "z 0 sz 1 num 1 bt");
		while (strlen(words) < 2000 * (i + 1))
			strcat(words, " 123");
		strcat(words, "\n");
	}
	strcat(words, TAIL);
	ck_assert_int_eq(parse(words), MU_OK);
	ck_assert_uint_eq(dump.num_cut, 2);
	ck_assert_uint_eq(records[0].num_frames, 256);
}

TEST(equal_records_are_merged)
{
	ck_assert_int_eq(parse("Android Native Heap Dump v1.2\n"
			       "Allocation records: 6\n"
			       "z 1 sz 8 num 2 bt 5 6\n"
			       "z 1 sz 9 num 1 bt 5 6\n"
			       "z 0 sz 8 num 4 bt 5 6\n"
			       "z 1 sz 8 num 1 bt 5 6 7\n"
			       "z 1 sz 8 num 18446744073709551614 bt 5 6\n"
			       "z 1 sz 8 num 5 bt 5 6 0 7\n" TAIL),
	    MU_OK);
	ck_assert_uint_eq(dump.num_records, 6);
	ck_assert_uint_eq(num_records, 4);
	ck_assert_uint_eq(dump.addresses.count, 3);
	ck_assert_uint_eq(records[0].count, UINT64_MAX);
	ck_assert_uint_eq(records[0].bytes, UINT64_MAX);
	ck_assert_uint_eq(records[1].bytes, 9);
	ck_assert_uint_eq(records[2].count, 4);
	ck_assert_uint_eq(records[3].num_frames, 3);
}

/* A bt_info behind a merged record; the first that names an address holds. */
TEST(names_of_merged_records)
{
	const struct mu_frame_info *info;

	ck_assert_int_eq(parse("Android Native Heap Dump v1.2\n"
			       "z 1 sz 8 num 1 bt 5 6\n"
			       "  bt_info {\"/a\" 1 \"f\" 1}\n"
			       "z 1 sz 8 num 1 bt 7\n"
			       "z 1 sz 8 num 1 bt 5 6\n"
			       "  bt_info {\"/b\" 1 \"g\" 1} {\"/b\" 2"
			       " \"h\" 2}\n" TAIL),
	    MU_OK);
	ck_assert_uint_eq(dump.num_infos, 2);
	info = mu_frame_infos_find(dump.infos, dump.num_infos, 5);
	ck_assert_str_eq(info->function, "f");
	info = mu_frame_infos_find(dump.infos, dump.num_infos, 6);
	ck_assert_str_eq(info->function, "h");
}

/* However the text is cut into pieces, and wherever these lie later. */
TEST(pieces_of_a_file)
{
	static const char whole[] =
	    HEAD RECORD_1 "  bt_info {\"/a\" 1 \"f\" 1}\n" RECORD_2 TAIL;
	size_t i, cut, taken, length = sizeof(whole) - 1;
	char piece[sizeof(whole)];

	for (cut = 0; cut <= length; cut++) {
		mu_heap_dump_release(&dump);
		mu_heap_dump_begin(&dump);
		memcpy(piece, whole, length);
		taken = mu_heap_dump_take(&dump, piece, cut, false);
		ck_assert_uint_le(taken, cut);
		for (i = taken; i < cut; i++)
			ck_assert_int_ne(whole[i], '\n');
		memcpy(piece, whole, length);
		ck_assert_uint_eq(mu_heap_dump_take(&dump, piece + taken,
				      length - taken, true),
		    length - taken);
		memset(piece, 'x', sizeof(piece));
		ck_assert_int_eq(mu_heap_dump_end(&dump, &why), MU_OK);
		ck_assert_uint_eq(dump.num_records, 2);
		ck_assert_str_eq(dump.fingerprint, "unknown");
		ck_assert_str_eq(dump.infos[0].function, "f");
		ck_assert_str_eq(dump.modules.mappings[1].name, "/lib/a b.so");
	}
}

TEST(absurd_numbers_saturate)
{
	ck_assert_int_eq(
	    parse("Android Native Heap Dump v1.2\n"
		  "z 0 sz 18446744073709551615 num 18446744073709551615"
		  " bt ffffffffffffffff\n" TAIL),
	    MU_OK);
	ck_assert_uint_eq(records[0].bytes, UINT64_MAX);
}

TEST(maps_that_overlap_or_fall)
{
	ck_assert_int_eq(parse("Android Native Heap Dump v1.2\nMAPS\n"
			       "5000-6000 r-xp 0 00:00 0 /c\n"
			       "1000-3000 r-xp 0 00:00 0 /a\n"
			       "2000-4000 r-xp 0 00:00 0 /b\nEND\n"),
	    MU_OK);
	ck_assert_uint_eq(dump.modules.count, 2);
	ck_assert_uint_eq(dump.modules.num_overlaps, 1);
	ck_assert_str_eq(dump.modules.mappings[0].name, "/a");
	ck_assert_str_eq(dump.modules.mappings[1].name, "/c");
	assert_partial("Android Native Heap Dump v1.2\nMAPS\n"
		       "5000-4000 r-xp 0 00:00 0 /c\nnonsense\n"
		       "5000-6000 rwxp 0 00:00 0\nEND\n",
	    "2 lines of the file cannot be read and are left out, the first"
	    " is line 3");
	ck_assert_uint_eq(dump.modules.count, 1);
}

TEST(bytes_that_end_strings)
{
	static const char words[] = HEAD RECORD_1 RECORD_2
	    "MAPS\n1000-2000 r-xp 0 00:00 0 /a\0b\n# build-id 12 /a\0\nEND\n";

	ck_assert_int_eq(parse_bytes(words, sizeof(words) - 1), MU_PARTIAL);
	ck_assert_uint_eq(dump.bad_lines, 2);
}

SUITE(.teardown = tear_down);
