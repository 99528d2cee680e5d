/* Show a heap dump: as a tree in text, or as a page. */
#include <string.h>

#include "lib/view/tree_html.h"
#include "lib/view/tree_text.h"
#include "lib/view/view_parts.h"

#define HTML_LIMIT 5000 /* branches, without --limit */

struct work {
	const struct mu_cli_options *options;
	const struct mu_style *style;
	struct mu_opened_dump opened;
	struct mu_frames frames;
	struct mu_notes notes;
	FILE *out;
};

static bool
build_trees(struct mu_dump_view *view, size_t limit)
{
	size_t i;

	for (i = 0; i < MU_DUMP_SECTIONS; i++) {
		mu_tree_release(&view->trees[i]);
		if (!mu_tree_build(
			&view->trees[i], &view->dump->records, i == 0, limit))
			return false;
	}
	return true;
}

static bool
name_frames(struct work *work)
{
	struct mu_heap_dump *dump = &work->opened.dump;

	if (!mu_frames_add(
		&work->frames, &dump->records, 0, &work->opened.names) ||
	    !mu_frames_number(&work->frames) ||
	    !mu_frames_replace(&work->frames, &dump->records, 0))
		return false;
	mu_opened_dump_note(&work->opened, &work->notes);
	return true;
}

static bool
write_tree(FILE *out, const void *view)
{
	mu_tree_html(out, view);
	return true;
}

/* On standard output the page is the only output. */
static enum mu_status
write_all(struct work *work, struct mu_dump_view *view, struct mu_why *why)
{
	const struct mu_cli_options *options = work->options;
	const char *html = options->html;

	if (html == NULL || strcmp(html, "-") != 0) {
		if (!build_trees(view, options->limit))
			return mu_why(
			    why, MU_ERR_NO_MEMORY, "no memory for a tree");
		mu_tree_text(work->out, view);
	}
	if (html == NULL)
		return MU_OK;
	if (!build_trees(
		view, options->limit_given ? options->limit : HTML_LIMIT))
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for a tree");
	return mu_view_page(html, work->out, write_tree, view, why);
}

static enum mu_status
show(struct work *work, struct mu_why *why)
{
	struct mu_dump_view view = {
		.path = work->options->heap_dump,
		.dump = &work->opened.dump,
		.frames = &work->frames,
		.notes = &work->notes,
		.style = *work->style,
	};
	enum mu_status status;
	size_t i;

	if (name_frames(work))
		status = write_all(work, &view, why);
	else
		status = mu_why(why, MU_ERR_NO_MEMORY, "no memory for frames");
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		mu_tree_release(&view.trees[i]);
	return status;
}

enum mu_exit
mu_view_heap_dump(const struct mu_cli_options *options,
    const struct mu_style *style, FILE *out, struct mu_why *why)
{
	struct work work = { .options = options, .style = style, .out = out };
	struct mu_why later = { .text = "" };
	enum mu_exit result = MU_EXIT_UNCHECKED;
	enum mu_status status = mu_opened_dump_open(&work.opened,
	    options->heap_dump, options->symbols, &work.notes, why);

	if (mu_status_usable(status)) {
		result = status == MU_OK ? MU_EXIT_CLEAN : MU_EXIT_PARTIAL;
		if (show(&work, &later) != MU_OK) {
			*why = later;
			result = MU_EXIT_UNCHECKED;
		}
	}
	mu_frames_release(&work.frames);
	mu_opened_dump_close(&work.opened);
	mu_notes_release(&work.notes);
	return result;
}
