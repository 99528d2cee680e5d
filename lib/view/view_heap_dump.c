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
	/* The records of each section, for its tree and its rows. */
	struct mu_sorter stacks[MU_DUMP_SECTIONS], rows[MU_DUMP_SECTIONS];
	struct mu_notes notes;
	FILE *out;
};

static enum mu_status
build_trees(struct work *work, struct mu_dump_view *view, size_t limit,
    struct mu_why *why)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < MU_DUMP_SECTIONS && status == MU_OK; i++) {
		mu_tree_release(&view->trees[i]);
		status = mu_tree_build(
		    &view->trees[i], &work->stacks[i], limit, why);
	}
	return status;
}

static bool
name_frames(struct work *work)
{
	if (!mu_frames_add(&work->frames, &work->opened.dump.addresses, 0,
		&work->opened.names) ||
	    !mu_frames_number(&work->frames))
		return false;
	mu_opened_dump_note(&work->opened, &work->notes);
	return true;
}

/* The process's own records are the first section. */
static bool
add_record(struct work *work, const struct mu_record *record)
{
	size_t section = record->own ? 0 : 1;

	return mu_tree_add(&work->stacks[section], record) &&
	    (work->options->html == NULL ||
		mu_tree_html_add(&work->rows[section], record));
}

/* Records that are added take no more room in the dump. */
static enum mu_status
add_records(struct work *work, struct mu_why *why)
{
	struct mu_heap_dump *dump = &work->opened.dump;
	struct mu_record record;
	enum mu_status status;

	mu_sorter_begin(&dump->records);
	while (mu_heap_dump_next(dump, &record)) {
		mu_frames_replace(&work->frames, 0, &record);
		if (!add_record(work, &record))
			return mu_why(
			    why, MU_ERR_NO_MEMORY, "no memory for stacks");
	}
	status = mu_sorter_end(&dump->records, why);
	mu_sorter_release(&dump->records);
	return status;
}

static enum mu_status
write_tree(FILE *out, const void *view, struct mu_why *why)
{
	const struct mu_dump_view *dump = view;
	enum mu_status status = MU_OK;
	size_t i;

	mu_tree_html(out, dump);
	for (i = 0; i < MU_DUMP_SECTIONS && status == MU_OK; i++)
		status = mu_sorter_end(&dump->rows[i], why);
	return status;
}

/* On standard output the page is the only output. */
static enum mu_status
write_all(struct work *work, struct mu_dump_view *view, struct mu_why *why)
{
	const struct mu_cli_options *options = work->options;
	const char *html = options->html;
	enum mu_status status = MU_OK;

	if (html == NULL || strcmp(html, "-") != 0) {
		status = build_trees(work, view, options->limit, why);
		if (status == MU_OK)
			mu_tree_text(work->out, view);
	}
	if (html == NULL || status != MU_OK)
		return status;
	status = build_trees(work, view,
	    options->limit_given ? options->limit : HTML_LIMIT, why);
	if (status != MU_OK)
		return status;
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
		.rows = work->rows,
		.style = *work->style,
	};
	enum mu_status status;
	size_t i;

	if (name_frames(work))
		status = add_records(work, why);
	else
		status = mu_why(why, MU_ERR_NO_MEMORY, "no memory for frames");
	if (status == MU_OK)
		status = write_all(work, &view, why);
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
	size_t i;

	if (mu_status_usable(status)) {
		result = status == MU_OK ? MU_EXIT_CLEAN : MU_EXIT_PARTIAL;
		if (show(&work, &later) != MU_OK) {
			*why = later;
			result = MU_EXIT_UNCHECKED;
		}
	}
	for (i = 0; i < MU_DUMP_SECTIONS; i++) {
		mu_sorter_release(&work.stacks[i]);
		mu_sorter_release(&work.rows[i]);
	}
	mu_frames_release(&work.frames);
	mu_opened_dump_close(&work.opened);
	mu_notes_release(&work.notes);
	return result;
}
