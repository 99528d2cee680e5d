/*
 * The only child of a frame is shown without figures and without indentation.
 */
#include "lib/view/tree_text.h"

#include <inttypes.h>

#include "lib/term/out.h"
#include "lib/view/location_text.h"

#define COLUMNS "%14" PRIu64 " %7s %10" PRIu64 "  "
#define COLUMNS_WIDTH 35

struct writer {
	FILE *out;
	const struct mu_dump_view *view;
	uint64_t whole;
	struct mu_tree_walk walk;
	size_t indents[MU_RECORD_FRAMES + 2]; /* by depth */
};

static void
put_figures(
    const struct writer *writer, uint64_t bytes, uint64_t blocks, size_t indent)
{
	fprintf(writer->out, COLUMNS "%*s", bytes,
	    mu_percent(bytes, writer->whole).text, blocks, (int)(2 * indent),
	    "");
}

static void
put_frame(struct writer *writer)
{
	const struct mu_tree_walk *walk = &writer->walk;
	const struct mu_tree_node *node = &walk->tree->nodes[walk->node];
	bool continues = mu_tree_continues(walk->tree, walk->node);
	size_t indent = writer->indents[walk->depth - 1] + !continues;
	struct mu_location_text text =
	    mu_location_text(writer->view->frames->named[node->frame].location);

	writer->indents[walk->depth] = indent;
	if (continues)
		fprintf(writer->out, "%*s",
		    (int)(COLUMNS_WIDTH + 2 * (indent - 1)), "");
	else
		put_figures(writer, node->bytes, node->blocks, indent - 1);
	fprintf(writer->out, "%s\n", text.text);
}

static void
put_event(struct writer *writer, enum mu_tree_event event)
{
	const struct mu_tree_walk *walk = &writer->walk;
	const struct mu_style *style = &writer->view->style;
	size_t indent = writer->indents[walk->depth];

	if (event == MU_TREE_ENTER) {
		put_frame(writer);
	} else if (event == MU_TREE_OWN) {
		put_figures(writer, walk->bytes, walk->blocks, indent);
		fprintf(writer->out, "%s%s%s\n", style->dim,
		    walk->depth == 0 ? "(no stack was recorded)" : "(here)",
		    style->off);
	} else if (event == MU_TREE_PRUNED) {
		put_figures(writer, walk->bytes, walk->blocks, indent);
		fprintf(writer->out, "%s(%zu smaller branch%s, pruned)%s\n",
		    style->dim, walk->branches, walk->branches == 1 ? "" : "es",
		    style->off);
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
	fprintf(out, "\n%s%s: %s, %zu stack%s%s\n", view->style.bold,
	    mu_dump_section_name(section),
	    mu_amount(tree->nodes[0].bytes, tree->nodes[0].blocks).text,
	    tree->num_stacks, tree->num_stacks == 1 ? "" : "s",
	    view->style.off);
	fprintf(out, "%s%14s %7s %10s  %s%s\n", view->style.dim, "bytes",
	    "share", "blocks", "frames, the outermost first", view->style.off);
	while ((event = mu_tree_step(&writer.walk)) != MU_TREE_END)
		put_event(&writer, event);
}

void
mu_tree_text(FILE *out, const struct mu_dump_view *view)
{
	const struct mu_heap_dump *dump = view->dump;
	size_t i;

	fputs("Heap dump ", out);
	mu_print_safe(out, view->path);
	fprintf(out, ", v1.%u", dump->version);
	if (dump->fingerprint[0] != '\0') {
		fputs(", build ", out);
		mu_print_safe(out, dump->fingerprint);
	}
	fprintf(out, "\n%sNot freed: %s%s\n", view->style.bold,
	    mu_amount(mu_dump_view_bytes(view), mu_dump_view_blocks(view)).text,
	    view->style.off);
	mu_notes_text(out, view->notes);
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		put_section(out, view, i);
}
