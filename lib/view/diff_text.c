#include "lib/view/diff_text.h"

#include <inttypes.h>

#include "lib/term/out.h"
#include "lib/view/dump_summary.h"
#include "lib/view/location_text.h"
#include "lib/view/saturate.h"

static void
put_change(
    FILE *out, const struct mu_diff_view *view, const struct mu_change *change)
{
	const struct mu_record *record = change->record;
	char sign = change->grew ? '+' : '-';
	uint64_t blocks = change->grew ? change->after - change->before
				       : change->before - change->after;
	size_t i;

	fprintf(out,
	    "%s%c%" PRIu64 " bytes: %c%" PRIu64 " block%s of %" PRIu64
	    " bytes, %" PRIu64 " before, %" PRIu64 " now%s\n",
	    view->style.bold, sign, change->bytes, sign, blocks,
	    blocks == 1 ? "" : "s", record->size, change->before, change->after,
	    view->style.off);
	for (i = 0; i < record->num_frames; i++)
		fprintf(out, "    #%02zu  %s\n", i,
		    mu_location_text(
			view->frames->named[record->frames[i]].location)
			.text);
	if (record->num_frames == 0)
		fputs("    (no stack was recorded)\n", out);
	fputc('\n', out);
}

static void
put_changes(FILE *out, const struct mu_diff_view *view,
    const struct mu_change *changes, size_t count)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count && i < view->limit; i++)
		put_change(out, view, &changes[i]);
	if (i == count)
		return;
	for (; i < count; i++)
		bytes = mu_saturated_add(bytes, changes[i].bytes);
	fprintf(out, "(and %zu smaller change%s, %" PRIu64 " bytes)\n\n",
	    count - view->limit, count - view->limit == 1 ? "" : "s", bytes);
}

static void
put_total(FILE *out, const struct mu_diff_view *view, size_t side)
{
	fputs(side == 0 ? "Before: " : "Now:    ", out);
	fprintf(out, "%s, ",
	    mu_amount(view->diff->bytes[side], view->diff->blocks[side]).text);
	mu_print_safe(out, view->paths[side]);
	fputc('\n', out);
}

void
mu_diff_text(FILE *out, const struct mu_diff_view *view)
{
	const struct mu_diff *diff = view->diff;
	size_t grew = diff->num_grew, shrank = diff->count - grew;

	put_total(out, view, 0);
	put_total(out, view, 1);
	mu_notes_text(out, view->notes);
	fprintf(out,
	    "%s%zu stack%s grew by %" PRIu64 " bytes, %zu shrank by %" PRIu64
	    " bytes%s\n\n",
	    view->style.bold, grew, grew == 1 ? "" : "s", diff->grown, shrank,
	    diff->shrunk, view->style.off);
	put_changes(out, view, diff->changes, grew);
	put_changes(out, view, diff->changes + grew, shrank);
}
