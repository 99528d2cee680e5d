/* A node with nodes below it is a <details> element, any other a <div>. */
#include "lib/view/tree_html.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/term/human.h"
#include "lib/view/html_text.h"
#include "lib/view/location_text.h"
#include "lib/view/page.h"
#include "lib/view/stack_key.h"

#define OPEN_SHARE 0.1 /* nodes with less of the whole are folded at first */

struct writer {
	FILE *out;
	const struct mu_dump_view *view;
	uint64_t whole;
	struct mu_tree_walk walk;
};

static void
put_figures(const struct writer *writer, uint64_t bytes, uint64_t blocks)
{
	double whole = writer->whole == 0 ? 1 : (double)writer->whole;

	fprintf(writer->out,
	    "<b title=\"%" PRIu64 "\">%s</b> <meter value=\"%.4f\"></meter>"
	    " <i>%s</i> <u>%" PRIu64 " block%s</u> ",
	    bytes, mu_human_bytes(bytes).text, (double)bytes / whole,
	    mu_percent(bytes, writer->whole).text, blocks,
	    blocks == 1 ? "" : "s");
}

static void
put_frame(const struct writer *writer, const struct mu_tree_node *node)
{
	const struct mu_location *location =
	    writer->view->frames->named[node->frame].location;

	fputs("<span", writer->out);
	if (location->module != NULL) {
		fputs(" title=\"", writer->out);
		mu_html_text(writer->out, location->module);
		fprintf(
		    writer->out, "+0x%lx\"", (unsigned long)location->offset);
	}
	fputc('>', writer->out);
	mu_html_text(writer->out, mu_location_text(location).text);
	fputs("</span>", writer->out);
}

static void
enter(const struct writer *writer)
{
	const struct mu_tree_walk *walk = &writer->walk;
	const struct mu_tree_node *node = &walk->tree->nodes[walk->node];
	bool goes_on = mu_tree_continues(walk->tree, walk->node);
	bool open = goes_on ||
	    (double)node->bytes >= OPEN_SHARE * (double)writer->whole;

	fprintf(writer->out, "<%s class=\"n%s\"%s>",
	    node->num_children > 0 ? "details" : "div", goes_on ? " go" : "",
	    node->num_children > 0 && open ? " open" : "");
	if (node->num_children > 0)
		fputs("<summary>", writer->out);
	if (!goes_on)
		put_figures(writer, node->bytes, node->blocks);
	put_frame(writer, node);
	fputs(node->num_children > 0 ? "</summary>\n" : "", writer->out);
}

static void
put_rest(const struct writer *writer, const char *words)
{
	fputs("<div class=\"n more\">", writer->out);
	put_figures(writer, writer->walk.bytes, writer->walk.blocks);
	fprintf(writer->out, "%s</div>\n", words);
}

static void
put_event(const struct writer *writer, enum mu_tree_event event)
{
	const struct mu_tree_walk *walk = &writer->walk;
	char words[64];

	if (event == MU_TREE_ENTER) {
		enter(writer);
	} else if (event == MU_TREE_LEAVE) {
		fputs(walk->tree->nodes[walk->node].num_children > 0
			? "</details>\n"
			: "</div>\n",
		    writer->out);
	} else if (event == MU_TREE_OWN) {
		put_rest(writer,
		    walk->depth == 0 ? "(no stack was recorded)" : "(here)");
	} else {
		snprintf(words, sizeof(words), "(%zu smaller branch%s, pruned)",
		    walk->branches, walk->branches == 1 ? "" : "es");
		put_rest(writer, words);
	}
}

static void
put_section(FILE *out, const struct mu_dump_view *view, size_t section)
{
	const struct mu_tree *tree = &view->trees[section];
	struct writer writer = { .out = out,
		.view = view,
		.whole = tree->nodes[0].bytes,
		.walk = { .tree = tree } };
	enum mu_tree_event event;

	if (tree->num_stacks == 0)
		return;
	fprintf(out,
	    "<section id=\"s%zu\">\n<h2>%s</h2>\n<p>%s in %" PRIu64
	    " block%s (%s of all), %zu stack%s</p>\n<details"
	    " class=\"part tree\" open><summary>Calls: the outermost frame,"
	    " and its callees</summary>\n",
	    section, mu_dump_section_name(section),
	    mu_human_bytes(tree->nodes[0].bytes).text, tree->nodes[0].blocks,
	    tree->nodes[0].blocks == 1 ? "" : "s",
	    mu_percent(tree->nodes[0].bytes, mu_dump_view_bytes(view)).text,
	    tree->num_stacks, tree->num_stacks == 1 ? "" : "s");
	while ((event = mu_tree_step(&writer.walk)) != MU_TREE_END)
		put_event(&writer, event);
	fputs("</details>\n</section>\n", out);
}

struct rows {
	struct mu_sorter *sections; /* stacks by their order in the file */
	struct mu_sorter *now;
	uintptr_t frames[MU_RECORD_FRAMES];
};

static void
begin_rows(void *ctx, size_t section)
{
	struct rows *rows = ctx;

	rows->now = &rows->sections[section];
	mu_sorter_begin(rows->now);
}

static bool
next_row(void *ctx, struct mu_page_row *row)
{
	struct rows *rows = ctx;
	const unsigned char *frames;
	struct mu_sorted item;
	uint64_t number;

	if (!mu_sorter_next(rows->now, &item))
		return false;
	frames = mu_code_take(item.key, &number);
	*row = (struct mu_page_row) {
		.bytes = item.values[0],
		.blocks = item.values[1],
		.frames = rows->frames,
	};
	mu_stack_key_take(frames, rows->frames, &row->num_frames);
	return true;
}

bool
mu_tree_html_add(struct mu_sorter *rows, const struct mu_record *record)
{
	unsigned char key[MU_SORTER_KEY_MAX];
	unsigned char *end = mu_code_put(key, record->number);

	end = mu_stack_key_put(end, record->frames, record->num_frames, false);
	return mu_sorter_add(
	    rows, key, (size_t)(end - key), record->bytes, record->count);
}

void
mu_tree_html(FILE *out, const struct mu_dump_view *view)
{
	char title[512];
	struct rows rows = { .sections = view->rows };
	struct mu_page page = {
		.title = title,
		.frames = view->frames,
		.num_sections = MU_DUMP_SECTIONS,
		.begin = begin_rows,
		.next = next_row,
		.ctx = &rows,
	};
	size_t i;

	snprintf(title, sizeof(title), "Heap dump %s", view->path);
	mu_page_begin(out, &page);
	fprintf(out,
	    "<p>Not freed: <strong>%s</strong> in %" PRIu64 " blocks, v1.%u",
	    mu_human_bytes(mu_dump_view_bytes(view)).text,
	    mu_dump_view_blocks(view), view->dump->version);
	if (view->dump->fingerprint[0] != '\0') {
		fputs(", build ", out);
		mu_html_text(out, view->dump->fingerprint);
	}
	fputs(".</p>\n", out);
	mu_page_notes(out, view->notes);
	mu_page_search(out);
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		put_section(out, view, i);
	mu_page_end(out, &page);
}
