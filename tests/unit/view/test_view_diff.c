/*
 * lib/view/diff.c, diff_text.c: what grew between two dumps, wherever the
 * program was loaded.
 */
#include "lib/view/diff_text.h"
#include "tests/support/suite.h"

static struct mu_records before, after;
static struct mu_diff diff;

static void
tear_down(void)
{
	mu_diff_release(&diff);
	mu_records_release(&before);
	mu_records_release(&after);
}

static void
add(struct mu_records *records, uint64_t size, uint64_t count,
    const char *frames)
{
	struct mu_record *record = mu_records_add(records);

	record->size = size;
	record->count = count;
	for (; *frames != '\0'; frames++)
		ck_assert(
		    mu_records_frame(records, (uintptr_t)(*frames - 'a')));
}

static void
compare(void)
{
	mu_records_seal(&before);
	mu_records_seal(&after);
	ck_assert(mu_diff_make(&diff, &before, &after));
}

TEST(by_stack_and_size)
{
	add(&before, 10, 5, "ab");
	add(&before, 20, 5, "ab"); /* another size */
	add(&before, 10, 2, "abc");
	add(&before, 8, 1, "");
	add(&after, 10, 2, "ab");
	add(&after, 10, 7, "ab"); /* twice in one dump, as a child's and as its
				     own */
	add(&after, 20, 5, "ab");
	add(&after, 100, 1, "d");
	compare();
	ck_assert_uint_eq(diff.count, 4);
	ck_assert_uint_eq(diff.num_grew, 2);
	ck_assert_uint_eq(diff.changes[0].bytes, 100);
	ck_assert_uint_eq(diff.changes[0].before, 0);
	ck_assert_uint_eq(diff.changes[1].bytes, 40);
	ck_assert_uint_eq(diff.changes[1].before, 5);
	ck_assert_uint_eq(diff.changes[1].after, 9);
	ck_assert_uint_eq(diff.changes[2].bytes, 20);
	ck_assert(!diff.changes[2].grew);
	ck_assert_uint_eq(diff.changes[3].bytes, 8);
	ck_assert_uint_eq(diff.grown, 140);
	ck_assert_uint_eq(diff.shrunk, 28);
	ck_assert_uint_eq(diff.bytes[0], 178);
	ck_assert_uint_eq(diff.bytes[1], 290);
	ck_assert_uint_eq(diff.blocks[1], 15);
}

TEST(nothing_changed)
{
	compare();
	ck_assert_uint_eq(diff.count, 0);
	tear_down();
	add(&before, 10, 5, "ab");
	add(&after, 10, 5, "ab");
	compare();
	ck_assert_uint_eq(diff.count, 0);
}

TEST(sums_saturate)
{
	add(&before, UINT64_MAX, 1, "a");
	add(&after, UINT64_MAX, UINT64_MAX, "a");
	add(&after, UINT64_MAX, UINT64_MAX, "a");
	add(&after, UINT64_MAX, 2, "b");
	compare();
	ck_assert_uint_eq(diff.changes[0].bytes, UINT64_MAX);
	ck_assert_uint_eq(diff.grown, UINT64_MAX);
	ck_assert_uint_eq(diff.blocks[1], UINT64_MAX);
}

static char *
written(size_t limit)
{
	static const struct mu_location places[] = { { .module = "/bin/prog",
							 .function = "make",
							 .file = "make.c",
							 .line = 3 },
		{ .module = "/bin/prog", .offset = 0x12 } };
	struct mu_named named[] = { { &places[0], NULL },
		{ &places[1], NULL } };
	struct mu_frames list = { .named = named, .num_named = 2 };
	struct mu_notes notes = { 0 };
	struct mu_diff_view view = { .paths = { "A", "B" },
		.diff = &diff,
		.frames = &list,
		.notes = &notes,
		.limit = limit,
		.style = mu_style_choose(MU_STYLE_NEVER, false, NULL, NULL) };
	char *words = NULL;
	size_t length;
	FILE *out = open_memstream(&words, &length);

	mu_diff_text(out, &view);
	fclose(out);
	return words;
}

TEST(words)
{
	char *text;

	add(&before, 10, 5, "ab");
	add(&before, 8, 1, "");
	add(&after, 10, 6, "ab");
	add(&after, 3, 2, "b");
	compare();
	text = written(10);
	ck_assert_str_eq(text,
	    "Before: 58 bytes in 6 blocks, A\n"
	    "Now:    66 bytes in 8 blocks, B\n"
	    "2 stacks grew by 16 bytes, 1 shrank by 8 bytes\n"
	    "\n"
	    "+10 bytes: +1 block of 10 bytes, 5 before, 6 now\n"
	    "    #00  make at make.c:3 (prog)\n"
	    "    #01  prog+0x12\n"
	    "\n"
	    "+6 bytes: +2 blocks of 3 bytes, 0 before, 2 now\n"
	    "    #00  prog+0x12\n"
	    "\n"
	    "-8 bytes: -1 block of 8 bytes, 1 before, 0 now\n"
	    "    (no stack was recorded)\n"
	    "\n");
	free(text);
	text = written(1);
	ck_assert_ptr_nonnull(
	    strstr(text, "(and 1 smaller change, 6 bytes)\n"));
	free(text);
	text = written(0);
	ck_assert_ptr_nonnull(
	    strstr(text, "(and 2 smaller changes, 16 bytes)\n"));
	free(text);
}

SUITE(.teardown = tear_down);
