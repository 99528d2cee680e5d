/* Compare two heap dumps. */
#include <string.h>

#include "lib/view/diff_html.h"
#include "lib/view/view_parts.h"

struct work {
	struct mu_opened_dump dumps[2];
	struct mu_frames frames;
	struct mu_notes notes;
	struct mu_diff diff;
};

static bool
name_frames(struct work *work)
{
	struct mu_opened_dump *opened;
	size_t i;

	for (i = 0; i < 2; i++) {
		opened = &work->dumps[i];
		if (!mu_frames_add(&work->frames, &opened->dump.addresses, i,
			&opened->names))
			return false;
		mu_opened_dump_note(opened, &work->notes);
	}
	return mu_frames_number(&work->frames);
}

/* Records that are added take no more room in the dump. */
static enum mu_status
add_records(struct work *work, size_t side, struct mu_why *why)
{
	struct mu_heap_dump *dump = &work->dumps[side].dump;
	struct mu_record record;
	enum mu_status status;

	mu_sorter_begin(&dump->records);
	while (mu_heap_dump_next(dump, &record)) {
		mu_frames_replace(&work->frames, side, &record);
		if (!mu_diff_add(&work->diff, side, &record))
			return mu_why(
			    why, MU_ERR_NO_MEMORY, "no memory to compare them");
	}
	status = mu_sorter_end(&dump->records, why);
	mu_sorter_release(&dump->records);
	return status;
}

static enum mu_status
compare(struct work *work, struct mu_why *why)
{
	enum mu_status status;

	if (!name_frames(work))
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for frames");
	status = add_records(work, 0, why);
	if (status == MU_OK)
		status = add_records(work, 1, why);
	return status == MU_OK ? mu_diff_make(&work->diff, why) : status;
}

/* MU_PARTIAL: one or both are partial, and WHY is that of the first. */
static enum mu_status
open_both(
    struct work *work, const struct mu_cli_options *options, struct mu_why *why)
{
	const char *paths[] = { options->diff_before, options->diff_after };
	enum mu_status status, worst = MU_OK;
	struct mu_why one = { .text = "" };
	size_t i;

	for (i = 0; i < 2; i++) {
		status = mu_opened_dump_open(&work->dumps[i], paths[i],
		    options->symbols, &work->notes, &one);
		if (status == MU_OK)
			continue;
		if (worst == MU_OK || status != MU_PARTIAL)
			*why = one;
		worst = status;
		if (status != MU_PARTIAL)
			break;
	}
	return worst;
}

static enum mu_status
write_changes(FILE *out, const void *view, struct mu_why *why)
{
	const struct mu_diff_view *changes = view;

	if (!mu_diff_html(out, changes))
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for a page");
	return mu_diff_end(changes->diff, why);
}

/* On standard output the page is the only output. */
static enum mu_status
write_all(const struct mu_cli_options *options, FILE *out,
    const struct mu_diff_view *view, struct mu_why *why)
{
	enum mu_status status = MU_OK;

	if (options->html == NULL || strcmp(options->html, "-") != 0) {
		mu_diff_text(out, view);
		status = mu_diff_end(view->diff, why);
	}
	if (options->html == NULL || status != MU_OK)
		return status;
	return mu_view_page(options->html, out, write_changes, view, why);
}

enum mu_exit
mu_view_diff(const struct mu_cli_options *options, const struct mu_style *style,
    FILE *out, struct mu_why *why)
{
	struct work work = { 0 };
	struct mu_why later = { .text = "" };
	enum mu_exit result = MU_EXIT_UNCHECKED;
	enum mu_status status = open_both(&work, options, why);
	struct mu_diff_view view = {
		.paths = { options->diff_before, options->diff_after },
		.diff = &work.diff,
		.frames = &work.frames,
		.notes = &work.notes,
		.limit = options->limit,
		.style = *style,
	};

	if (mu_status_usable(status)) {
		if (compare(&work, &later) == MU_OK &&
		    write_all(options, out, &view, &later) == MU_OK)
			result =
			    status == MU_OK ? MU_EXIT_CLEAN : MU_EXIT_PARTIAL;
		else
			*why = later;
	}
	mu_diff_release(&work.diff);
	mu_frames_release(&work.frames);
	mu_opened_dump_close(&work.dumps[0]);
	mu_opened_dump_close(&work.dumps[1]);
	mu_notes_release(&work.notes);
	return result;
}
