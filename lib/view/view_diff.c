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
compare(struct work *work)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!mu_frames_add(&work->frames, &work->dumps[i].dump.records,
			i, &work->dumps[i].names))
			return false;
		mu_opened_dump_note(&work->dumps[i], &work->notes);
	}
	if (!mu_frames_number(&work->frames))
		return false;
	for (i = 0; i < 2; i++) {
		if (!mu_frames_replace(
			&work->frames, &work->dumps[i].dump.records, i))
			return false;
	}
	return mu_diff_make(&work->diff, &work->dumps[0].dump.records,
	    &work->dumps[1].dump.records);
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

static bool
write_changes(FILE *out, const void *view)
{
	return mu_diff_html(out, view);
}

/* On standard output the page is the only output. */
static enum mu_status
write_all(const struct mu_cli_options *options, FILE *out,
    const struct mu_diff_view *view, struct mu_why *why)
{
	if (options->html == NULL || strcmp(options->html, "-") != 0)
		mu_diff_text(out, view);
	if (options->html == NULL)
		return MU_OK;
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
		if (!compare(&work))
			mu_why(
			    why, MU_ERR_NO_MEMORY, "no memory to compare them");
		else if (write_all(options, out, &view, &later) == MU_OK)
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
