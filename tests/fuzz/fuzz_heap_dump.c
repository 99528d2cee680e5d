/*
 * Any bytes as a heap dump: no fault, sums that agree, a text, and a page whose
 * elements are closed.
 */
#include "tests/support/command/view_symbols.h"

#include <inttypes.h>

#include "lib/view/diff.h"
#include "lib/view/heap_dump_file.h"
#include "lib/view/saturate.h"
#include "lib/view/tree_html.h"
#include "lib/view/tree_text.h"
#include "tests/support/fuzz/fuzz_input.h"

#define DUMP_MOST (64u << 10)
#define LIMIT 20

static void
check_modules(const struct mu_module_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		require(table->mappings[i].range.begin <
		    table->mappings[i].range.end);
		require(i == 0 ||
		    table->mappings[i - 1].range.end <=
			table->mappings[i].range.begin);
		require(mu_module_table_find(
			    table, table->mappings[i].range.begin) == i);
		require(table->modules[i].id == NULL ||
		    strcmp(table->modules[i].id->path,
			table->mappings[i].name) == 0);
	}
}

/* A walk visits every node of the tree. */
static void
check_tree(const struct mu_tree *tree)
{
	struct mu_tree_walk walk = { .tree = tree };
	enum mu_tree_event event;
	uint64_t bytes = 0;
	size_t depth = 0, shown = 0;

	while ((event = mu_tree_step(&walk)) != MU_TREE_END) {
		depth += event == MU_TREE_ENTER;
		require(walk.depth == depth && depth <= MU_RECORD_FRAMES);
		depth -= event == MU_TREE_LEAVE;
		shown += event == MU_TREE_ENTER;
		if (event == MU_TREE_OWN || event == MU_TREE_PRUNED)
			bytes = mu_saturated_add(bytes, walk.bytes);
		else if (event == MU_TREE_ENTER &&
		    tree->nodes[walk.node].num_children == 0)
			bytes = mu_saturated_add(
			    bytes, tree->nodes[walk.node].bytes);
	}
	require(depth == 0 && bytes == tree->nodes[0].bytes);
	require(shown <= LIMIT * 32);
}

static size_t
count(const char *text, const char *what)
{
	size_t found = 0;

	while ((text = strstr(text, what)) != NULL) {
		found++;
		text += strlen(what);
	}
	return found;
}

static void
check_page(const char *page, size_t length)
{
	require(length == strlen(page));
	require(count(page, "<details") == count(page, "</details>"));
	require(count(page, "<div") == count(page, "</div>"));
	require(count(page, "<span") == count(page, "</span>"));
	/* Data and code. */
	require(count(page, "<script") == 2 && count(page, "</script>") == 2);
	require(count(page, "<b>&") == 0);
}

static void
check_text(const char *text, size_t length)
{
	const char *p;

	for (p = text; *p != '\0'; p++)
		require(*p == '\n' || (unsigned char)*p >= 0x20);
	require(length == strlen(text));
}

/* What is shown of a dump. */
struct shown {
	char *text, *page;
	size_t text_length, page_length;
	struct mu_diff diff;
	struct mu_sorter trees[MU_DUMP_SECTIONS], rows[MU_DUMP_SECTIONS];
};

static void
add_records(
    struct shown *shown, struct mu_heap_dump *dump, struct mu_frames *frames)
{
	struct mu_record record;
	struct mu_why why;

	mu_sorter_begin(&dump->records);
	while (mu_heap_dump_next(dump, &record)) {
		mu_frames_replace(frames, 0, &record);
		require(mu_tree_add(&shown->trees[!record.own], &record));
		require(mu_tree_html_add(&shown->rows[!record.own], &record));
		require(mu_diff_add(&shown->diff, 0, &record));
		require(mu_diff_add(&shown->diff, 1, &record));
	}
	require(mu_sorter_end(&dump->records, &why) == MU_OK);
}

static void
check_diff(struct mu_diff *diff)
{
	struct mu_why why;

	require(mu_diff_make(diff, &why) == MU_OK);
	require(diff->count[MU_GREW] == 0 && diff->count[MU_SHRANK] == 0);
	require(diff->bytes[0] == diff->bytes[1]);
}

static void
write_both(struct shown *shown, const struct mu_dump_view *view)
{
	FILE *out = open_memstream(&shown->text, &shown->text_length);

	mu_tree_text(out, view);
	fclose(out);
	out = open_memstream(&shown->page, &shown->page_length);
	mu_tree_html(out, view);
	fclose(out);
}

static void
show_dump(struct shown *shown, struct mu_heap_dump *dump)
{
	struct mu_location_source source = { .modules = &dump->modules,
		.infos = dump->infos,
		.num_infos = dump->num_infos,
		.folder = dump->version == 1 ? "/other" : NULL };
	struct mu_notes notes = { 0 };
	struct mu_frames frames = { 0 };
	struct mu_dump_view view = { .path = "dump",
		.dump = dump,
		.frames = &frames,
		.notes = &notes,
		.rows = shown->rows,
		.style = { "", "", "" } };
	struct mu_locations names;
	struct mu_why why;
	size_t i;

	check_modules(&dump->modules);
	mu_locations_open(&names, &source, &notes);
	require(mu_frames_add(&frames, &dump->addresses, 0, &names));
	require(mu_frames_number(&frames));
	add_records(shown, dump, &frames);
	for (i = 0; i < MU_DUMP_SECTIONS; i++) {
		require(mu_tree_build(&view.trees[i], &shown->trees[i], LIMIT,
			    &why) == MU_OK);
		check_tree(&view.trees[i]);
	}
	write_both(shown, &view);
	for (i = 0; i < MU_DUMP_SECTIONS; i++) {
		mu_tree_release(&view.trees[i]);
		mu_sorter_release(&shown->trees[i]);
		mu_sorter_release(&shown->rows[i]);
	}
	check_diff(&shown->diff);
	mu_diff_release(&shown->diff);
	mu_frames_release(&frames);
	mu_locations_close(&names);
	mu_notes_release(&notes);
}

/* Show DATA, with ROOM bytes for records in memory. False: it is no dump. */
static bool
show(struct shown *shown, const uint8_t *data, size_t size, size_t room)
{
	struct mu_heap_dump dump;
	struct mu_why why = { .text = "" };
	enum mu_status status;
	char *text = malloc(size + 1);
	size_t i;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	*shown = (struct shown) { .diff.records.room = room };
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		shown->trees[i].room = shown->rows[i].room = room;
	mu_heap_dump_begin(&dump);
	dump.records.room = room;
	mu_heap_dump_take(&dump, text, size, true);
	status = mu_heap_dump_end(&dump, &why);
	require((status == MU_OK) == (why.text[0] == '\0'));
	if (status == MU_OK || status == MU_PARTIAL)
		show_dump(shown, &dump);
	else
		require(status == MU_ERR_ARGUMENT);
	mu_heap_dump_release(&dump);
	free(text);
	return shown->text != NULL;
}

/* Records in a file are shown as those in memory are. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shown whole, parts;

	if (size > DUMP_MOST || !show(&whole, data, size, 0))
		return 0;
	check_text(whole.text, whole.text_length);
	check_page(whole.page, whole.page_length);
	require(show(&parts, data, size, 2 * MU_SORTER_KEY_MAX));
	require(strcmp(whole.text, parts.text) == 0);
	require(strcmp(whole.page, parts.page) == 0);
	free(whole.text);
	free(whole.page);
	free(parts.text);
	free(parts.page);
	return 0;
}
