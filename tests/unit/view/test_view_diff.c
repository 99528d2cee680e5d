/*
 * lib/view/diff.c, diff_text.c: what grew between two dumps, wherever the
 * program was loaded.
 */
#include "lib/view/diff_text.h"
#include "lib/view/saturate.h"
#include "tests/support/suite.h"

enum { BEFORE, AFTER };

static struct mu_diff diff;
static struct mu_change grown[4], shrunk[4];

static void
tear_down(void)
{
	mu_diff_release(&diff);
	diff = (struct mu_diff) { .count = { 0 } };
}

static void
add(size_t side, uint64_t size, uint64_t count, const char *frames)
{
	struct mu_record record = {
		.size = size,
		.count = count,
		.bytes = mu_saturated_mul(size, count),
	};

	for (; *frames != '\0'; frames++)
		record.frames[record.num_frames++] = (uintptr_t)(*frames - 'a');
	ck_assert(mu_diff_add(&diff, side, &record));
}

static void
list(enum mu_change_kind kind, struct mu_change *changes)
{
	size_t i;

	mu_diff_begin(&diff, kind);
	for (i = 0; mu_diff_next(&diff, kind, &changes[i]); i++)
		ck_assert_uint_lt(i, 3);
	ck_assert_uint_eq(i, diff.count[kind]);
}

static void
compare(void)
{
	struct mu_why why;

	ck_assert_int_eq(mu_diff_make(&diff, &why), MU_OK);
	list(MU_GREW, grown);
	list(MU_SHRANK, shrunk);
	ck_assert_int_eq(mu_diff_end(&diff, &why), MU_OK);
}

TEST(by_stack_and_size)
{
	add(BEFORE, 10, 5, "ab");
	add(BEFORE, 20, 5, "ab"); /* another size */
	add(BEFORE, 10, 2, "abc");
	add(BEFORE, 8, 1, "");
	add(AFTER, 10, 2, "ab");
	add(AFTER, 10, 7, "ab"); /* twice in one dump, as a child's and as its
				     own */
	add(AFTER, 20, 5, "ab");
	add(AFTER, 100, 1, "d");
	compare();
	ck_assert_uint_eq(diff.count[MU_GREW], 2);
	ck_assert_uint_eq(diff.count[MU_SHRANK], 2);
	ck_assert_uint_eq(grown[0].bytes, 100);
	ck_assert_uint_eq(grown[0].before, 0);
	ck_assert_uint_eq(grown[1].bytes, 40);
	ck_assert_uint_eq(grown[1].before, 5);
	ck_assert_uint_eq(grown[1].after, 9);
	ck_assert_uint_eq(shrunk[0].bytes, 20);
	ck_assert_uint_eq(shrunk[1].bytes, 8);
	ck_assert_uint_eq(diff.changed[MU_GREW], 140);
	ck_assert_uint_eq(diff.changed[MU_SHRANK], 28);
	ck_assert_uint_eq(diff.bytes[0], 178);
	ck_assert_uint_eq(diff.bytes[1], 290);
	ck_assert_uint_eq(diff.blocks[1], 15);
}

TEST(nothing_changed)
{
	compare();
	ck_assert_uint_eq(diff.count[MU_GREW] + diff.count[MU_SHRANK], 0);
	tear_down();
	add(BEFORE, 10, 5, "ab");
	add(AFTER, 10, 5, "ab");
	compare();
	ck_assert_uint_eq(diff.count[MU_GREW] + diff.count[MU_SHRANK], 0);
}

TEST(sums_saturate)
{
	add(BEFORE, UINT64_MAX, 1, "a");
	add(AFTER, UINT64_MAX, UINT64_MAX, "a");
	add(AFTER, UINT64_MAX, UINT64_MAX, "a");
	add(AFTER, UINT64_MAX, 2, "b");
	compare();
	ck_assert_uint_eq(grown[0].bytes, UINT64_MAX);
	ck_assert_uint_eq(diff.changed[MU_GREW], UINT64_MAX);
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

	add(BEFORE, 10, 5, "ab");
	add(BEFORE, 8, 1, "");
	add(AFTER, 10, 6, "ab");
	add(AFTER, 3, 2, "b");
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
