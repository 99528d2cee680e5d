/*
 * A node with something below it is a <details> element, any other a <div>.
 */
#include "lib/view/tree_html.h"

#include <inttypes.h>

#include "lib/view/html_page.h"
#include "lib/view/html_text.h"
#include "lib/view/location_text.h"

#define OPEN_SHARE 0.1 /* what is less of the whole is folded at first */

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
	    "<b>%" PRIu64 "</b> <meter value=\"%.4f\"></meter> <i>%s</i>"
	    " <u>%" PRIu64 " block%s</u> ",
	    bytes, (double)bytes / whole, mu_share(bytes, writer->whole).words,
	    blocks, blocks == 1 ? "" : "s");
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
	mu_html_text(writer->out, mu_location_text(location).words);
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

	if (tree->num_records == 0)
		return;
	fprintf(out,
	    "<section>\n<h2>%s</h2>\n<p>%s (%s of all), %zu stack%s; frames"
	    " from the outermost down</p>\n",
	    mu_dump_section_name(section),
	    mu_amount(tree->nodes[0].bytes, tree->nodes[0].blocks).words,
	    mu_share(tree->nodes[0].bytes, mu_dump_view_bytes(view)).words,
	    tree->num_stacks, tree->num_stacks == 1 ? "" : "s");
	while ((event = mu_tree_step(&writer.walk)) != MU_TREE_END)
		put_event(&writer, event);
	fputs("</section>\n", out);
}

static void
put_notes(FILE *out, const struct mu_notes *notes)
{
	size_t i;

	if (notes->count == 0)
		return;
	fputs("<ul>\n", out);
	for (i = 0; i < notes->count; i++) {
		fputs("<li>", out);
		mu_html_text(out, notes->lines[i]);
		fputs(".</li>\n", out);
	}
	if (notes->num_more > 0)
		fprintf(out, "<li>There are %zu more notes.</li>\n",
		    notes->num_more);
	fputs("</ul>\n", out);
}

void
mu_tree_html(FILE *out, const struct mu_dump_view *view)
{
	char title[512];
	size_t i;

	snprintf(title, sizeof(title), "Heap dump %s", view->path);
	mu_html_page_begin(out, title);
	fprintf(out, "<p>Not freed: <strong>%s</strong>, v1.%u",
	    mu_amount(mu_dump_view_bytes(view), mu_dump_view_blocks(view))
		.words,
	    view->dump->version);
	if (view->dump->fingerprint[0] != '\0') {
		fputs(", build ", out);
		mu_html_text(out, view->dump->fingerprint);
	}
	fputs(".</p>\n", out);
	put_notes(out, view->notes);
	mu_html_page_search(out);
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		put_section(out, view, i);
	mu_html_page_end(out);
}
