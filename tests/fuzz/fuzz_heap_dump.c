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
#include "tests/support/command/whole_dump.h"
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
check_page(const struct mu_dump_view *view)
{
	char *page = NULL;
	size_t length;
	FILE *out = open_memstream(&page, &length);

	mu_tree_html(out, view);
	fclose(out);
	require(length == strlen(page));
	require(count(page, "<details") == count(page, "</details>"));
	require(count(page, "<div") == count(page, "</div>"));
	require(count(page, "<span") == count(page, "</span>"));
	/* Data and code. */
	require(count(page, "<script") == 2 && count(page, "</script>") == 2);
	require(count(page, "<b>&") == 0);
	free(page);
}

static void
check_text(const struct mu_dump_view *view)
{
	char *text = NULL, *p;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	mu_tree_text(out, view);
	fclose(out);
	for (p = text; *p != '\0'; p++)
		require(*p == '\n' || (unsigned char)*p >= 0x20);
	require(length == strlen(text));
	free(text);
}

static void
check_diff(const struct mu_records *records)
{
	struct mu_diff diff;

	require(mu_diff_make(&diff, records, records));
	require(diff.count == 0 && diff.bytes[0] == diff.bytes[1]);
	mu_diff_release(&diff);
}

static void
check_dump(struct mu_heap_dump *dump)
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
		.style = { "", "", "" } };
	struct mu_locations names;
	size_t i;

	check_modules(&dump->modules);
	mu_locations_open(&names, &source, &notes);
	require(mu_frames_add(&frames, &dump->records, 0, &names));
	require(mu_frames_number(&frames));
	require(mu_frames_replace(&frames, &dump->records, 0));
	for (i = 0; i < MU_DUMP_SECTIONS; i++) {
		require(mu_tree_build(
		    &view.trees[i], &dump->records, i == 0, LIMIT));
		check_tree(&view.trees[i]);
	}
	check_text(&view);
	check_page(&view);
	check_diff(&dump->records);
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		mu_tree_release(&view.trees[i]);
	mu_frames_release(&frames);
	mu_locations_close(&names);
	mu_notes_release(&notes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mu_heap_dump dump;
	struct mu_why why = { .text = "" };
	enum mu_status status;
	char *text;

	if (size > DUMP_MOST)
		return 0;
	text = malloc(size + 1);
	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	status = parse_dump(&dump, text, size, &why);
	require((status == MU_OK) == (why.text[0] == '\0'));
	if (status == MU_OK || status == MU_PARTIAL)
		check_dump(&dump);
	else
		require(status == MU_ERR_ARGUMENT);
	mu_heap_dump_release(&dump);
	free(text);
	return 0;
}
