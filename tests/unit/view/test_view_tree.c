/*
 * lib/view/tree.c, tree_text.c, tree_html.c: the tree of calls, which parts of
 * it are shown, and how.
 */
#include "tests/support/command/view_symbols.h"

#include "lib/view/html_text.h"
#include "lib/view/saturate.h"
#include "lib/view/tree_html.h"
#include "lib/view/tree_text.h"
#include "tests/support/command/whole_dump.h"
#include "tests/support/suite.h"

static struct mu_sorter stacks;
static struct mu_tree tree;

static void
tear_down(void)
{
	mu_tree_release(&tree);
	mu_sorter_release(&stacks);
}

/* FRAMES: the innermost first, a letter each. */
static void
add(uint64_t size, uint64_t count, const char *frames)
{
	struct mu_record record = {
		.count = count,
		.bytes = mu_saturated_mul(size, count),
	};

	for (; *frames != '\0'; frames++)
		record.frames[record.num_frames++] = (uintptr_t)*frames;
	ck_assert(mu_tree_add(&stacks, &record));
}

static void
build(size_t limit)
{
	struct mu_why why;

	ck_assert_int_eq(mu_tree_build(&tree, &stacks, limit, &why), MU_OK);
}

/* The walk as words: "m100x3(a40x1 b60x2)"; "=" own, "~" pruned. */
static const char *
walk(void)
{
	static char words[4096];
	struct mu_tree_walk way = { .tree = &tree };
	enum mu_tree_event event;
	size_t used = 0;

	words[0] = '\0';
	while ((event = mu_tree_step(&way)) != MU_TREE_END) {
		const struct mu_tree_node *node = &tree.nodes[way.node];
		char *at = words + used;
		size_t room = sizeof(words) - used;

		if (event == MU_TREE_ENTER)
			used += (size_t)snprintf(at, room, "%c%zux%zu(",
			    (char)node->frame, (size_t)node->bytes,
			    (size_t)node->blocks);
		else if (event == MU_TREE_LEAVE)
			used += (size_t)snprintf(at, room, ")");
		else
			used += (size_t)snprintf(at, room, "%s%zux%zu/%zu",
			    event == MU_TREE_OWN ? "=" : "~", (size_t)way.bytes,
			    (size_t)way.blocks,
			    event == MU_TREE_OWN ? 0 : way.branches);
		ck_assert_uint_lt(used, sizeof(words));
	}
	return words;
}

TEST(outermost_frame_down)
{
	add(10, 1, "abm");
	add(20, 2, "cbm");
	add(5, 1, "dm");
	add(3, 1, "abm");
	build(100);
	ck_assert_str_eq(walk(), "m58x5(b53x4(c40x2()a13x2())d5x1())");
	ck_assert_uint_eq(tree.num_stacks, 3);
	ck_assert_uint_eq(tree.nodes[0].bytes, 58);
}

TEST(what_ends_in_the_midst)
{
	add(10, 1, "bm");
	add(20, 2, "abm");
	add(4, 1, "");
	build(100);
	ck_assert_str_eq(walk(), "=4x1/0m50x3(b50x3(=10x1/0a40x2()))");
	ck_assert_uint_eq(tree.num_stacks, 3);
}

TEST(nothing)
{
	build(5);
	ck_assert_str_eq(walk(), "");
	tear_down();
	add(8, 2, "");
	build(5);
	ck_assert_str_eq(walk(), "=16x2/0");
}

TEST(small_branches_are_pruned)
{
	add(100, 1, "am");
	add(50, 1, "bm");
	add(20, 1, "cm");
	add(10, 3, "dm");
	add(1, 1, "xn");
	build(3); /* m, a, b */
	ck_assert_str_eq(walk(), "m200x6(a100x1()b50x1()~50x4/2)~1x1/1");
	mu_tree_release(&tree);
	build(1);
	ck_assert_str_eq(walk(), "m200x6(~200x6/4)~1x1/1");
	mu_tree_release(&tree);
	build(0);
	ck_assert_str_eq(walk(), "~201x7/2");
}

/* Calls without a choice do not use the limit up. */
TEST(chains_are_one_branch)
{
	add(100, 1, "edcbm");
	add(100, 1, "yxwvm");
	build(2);
	ck_assert_str_eq(
	    walk(), "m200x2(b100x1(c100x1(d100x1(e100x1())))~100x1/1)");
	mu_tree_release(&tree);
	build(3);
	ck_assert_str_eq(walk(),
	    "m200x2(b100x1(c100x1(d100x1(e100x1())))"
	    "v100x1(w100x1(x100x1(y100x1()))))");
}

TEST(sums_saturate)
{
	add(UINT64_MAX, UINT64_MAX, "am");
	add(UINT64_MAX, 2, "bm");
	build(10);
	ck_assert_uint_eq(tree.nodes[0].bytes, UINT64_MAX);
	ck_assert_uint_eq(tree.nodes[0].blocks, UINT64_MAX);
	walk();
}

/* The sum over all that is met is all there is, at any limit. */
TEST(nothing_is_lost)
{
	uint64_t seed = 1, whole = 0, met;
	struct mu_tree_walk way;
	enum mu_tree_event event;
	size_t i, limit, length;
	char frames[9];

	for (i = 0; i < 400; i++) {
		for (length = 0; length < 8; length++) {
			seed =
			    seed * 6364136223846793005u + 1442695040888963407u;
			frames[length] = (char)('a' + (seed >> 60) % 3);
		}
		frames[(seed >> 40) % 9] = '\0';
		frames[8] = '\0';
		add(seed >> 55, 1, frames);
		whole += seed >> 55;
	}
	for (limit = 0; limit < 300; limit = limit * 2 + 1) {
		build(limit);
		way = (struct mu_tree_walk) { .tree = &tree };
		met = 0;
		while ((event = mu_tree_step(&way)) != MU_TREE_END) {
			if (event == MU_TREE_OWN || event == MU_TREE_PRUNED)
				met += way.bytes;
			else if (event == MU_TREE_ENTER &&
			    tree.nodes[way.node].num_children == 0)
				met += tree.nodes[way.node].bytes;
		}
		ck_assert_uint_eq(met, whole);
		mu_tree_release(&tree);
	}
}

static char text[] = "Android Native Heap Dump v1.2\n"
		     "Build fingerprint: '<f>'\n"
		     "z 0 sz 40 num 2 bt 5555123 5555100\n"
		     "z 0 sz 1 num 1 bt\n"
		     "z 1 sz 16 num 1 bt 5555121\n"
		     "MAPS\n5555000-5556000 r-xp 0 00:00 1 /usr/bin/served\n"
		     "END\n";

/* Its records, in the sections of VIEW. */
static void
add_records(struct mu_heap_dump *dump, const struct mu_frames *frames,
    struct mu_sorter *trees, struct mu_sorter *rows)
{
	struct mu_record record;

	mu_sorter_begin(&dump->records);
	while (mu_heap_dump_next(dump, &record)) {
		mu_frames_replace(frames, 0, &record);
		ck_assert(mu_tree_add(&trees[!record.own], &record));
		ck_assert(mu_tree_html_add(&rows[!record.own], &record));
	}
}

/* The dump in TEXT as WRITE writes it. */
static char *
written(void (*write)(FILE *out, const struct mu_dump_view *view))
{
	struct mu_notes notes = { 0 };
	struct mu_sorter trees[MU_DUMP_SECTIONS] = { { 0 } };
	struct mu_sorter rows[MU_DUMP_SECTIONS] = { { 0 } };
	struct mu_dump_view view = {
		.path = "a<b>.txt",
		.notes = &notes,
		.rows = rows,
	};
	struct mu_heap_dump dump;
	struct mu_location_source source = { .modules = &dump.modules };
	struct mu_frames frames = { 0 };
	struct mu_locations names;
	char *copy = strdup(text), *page = NULL;
	struct mu_why why;
	size_t length, i;
	FILE *out = open_memstream(&page, &length);

	ck_assert_int_eq(parse_dump(&dump, copy, strlen(copy), NULL), MU_OK);
	mu_locations_open(&names, &source, &notes);
	ck_assert(mu_frames_add(&frames, &dump.addresses, 0, &names));
	ck_assert(mu_frames_number(&frames));
	add_records(&dump, &frames, trees, rows);
	mu_notes_add(&notes, "a <note>\033");
	view.dump = &dump;
	view.frames = &frames;
	view.style = mu_style_choose(MU_STYLE_NEVER, false, NULL, NULL);
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		ck_assert_int_eq(
		    mu_tree_build(&view.trees[i], &trees[i], 100, &why), MU_OK);
	write(out, &view);
	fclose(out);
	for (i = 0; i < MU_DUMP_SECTIONS; i++) {
		mu_tree_release(&view.trees[i]);
		mu_sorter_release(&trees[i]);
		mu_sorter_release(&rows[i]);
	}
	mu_locations_close(&names);
	mu_frames_release(&frames);
	mu_heap_dump_release(&dump);
	mu_notes_release(&notes);
	free(copy);
	return page;
}

TEST(words)
{
	char *page = written(mu_tree_text);

	ck_assert_str_eq(page,
	    "Heap dump a<b>.txt, v1.2, build <f>\n"
	    "Not freed: 97 bytes in 4 blocks\n"
	    "Note: a <note>\\x1b.\n"
	    "\n"
	    "Own (z 1; on Android the app's): 16 bytes in 1 block, 1 stack\n"
	    "         bytes   share     blocks  frames, the outermost first\n"
	    "            16  100.0%          1  <b>&\"' (served+0x121)\n"
	    "\n"
	    "Inherited (z 0; on Android the zygote's): 81 bytes in 3 blocks, 2 stacks\n"
	    "         bytes   share     blocks  frames, the outermost first\n"
	    "             1    1.2%          1  (no stack was recorded)\n"
	    "            80   98.8%          2  main (served+0x100)\n"
	    "                                   operator new(unsigned long) at"
	    " /src/served.c:35 (served)\n");
	free(page);
}

TEST(html)
{
	char *page = written(mu_tree_html);

	ck_assert_ptr_nonnull(
	    strstr(page, "<h1>Heap dump a&lt;b&gt;.txt</h1>"));
	ck_assert_ptr_nonnull(strstr(page, "build &lt;f&gt;"));
	ck_assert_ptr_nonnull(strstr(page, "<li>a &lt;note&gt;\\x1b.</li>"));
	ck_assert_ptr_nonnull(strstr(page,
	    "<span title=\"/usr/bin/served+0x121\">"
	    "&lt;b&gt;&amp;&quot;&#39; (served+0x121)</span></div>"));
	ck_assert_ptr_nonnull(strstr(page,
	    "<details class=\"n\" open><summary><b"
	    " title=\"80\">80 bytes</b>"));
	/* Bytes, blocks, and frames. */
	ck_assert_ptr_nonnull(strstr(page,
	    "\"sections\":[[[16,1,0]],\n"
	    "[[80,2,2,1],\n[1,1]]]}"));
	ck_assert_ptr_null(strstr(page, "<b>&"));
	ck_assert_ptr_null(strstr(page, "http:"));
	ck_assert_ptr_null(strstr(page, "https:"));
	free(page);
}

TEST(html_means_nothing_but_words)
{
	char *page = NULL;
	size_t length;
	FILE *out = open_memstream(&page, &length);

	mu_html_text(out, "</title><script>\"'&\n\xff\xe2\x80\xae");
	fclose(out);
	ck_assert_str_eq(page,
	    "&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;\\x0a\\xff\\xe2"
	    "\\x80\\xae");
	free(page);
}

SUITE(.teardown = tear_down);
