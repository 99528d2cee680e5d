#include "lib/view/diff_text.h"

#include <inttypes.h>

#include "lib/term/out.h"
#include "lib/view/dump_summary.h"
#include "lib/view/location_text.h"
#include "lib/view/saturate.h"

static void
put_change(FILE *out, const struct mu_diff_view *view, char sign,
    const struct mu_change *change)
{
	size_t i;

	fprintf(out,
	    "%s%c%" PRIu64 " bytes: %c%" PRIu64 " block%s of %" PRIu64
	    " bytes, %" PRIu64 " before, %" PRIu64 " now%s\n",
	    view->style.bold, sign, change->bytes, sign, change->blocks,
	    change->blocks == 1 ? "" : "s", change->size, change->before,
	    change->after, view->style.off);
	for (i = 0; i < change->num_frames; i++)
		fprintf(out, "    #%02zu  %s\n", i,
		    mu_location_text(
			view->frames->named[change->frames[i]].location)
			.text);
	if (change->num_frames == 0)
		fputs("    (no stack was recorded)\n", out);
	fputc('\n', out);
}

static void
put_changes(
    FILE *out, const struct mu_diff_view *view, enum mu_change_kind kind)
{
	size_t i, count = view->diff->count[kind];
	struct mu_change change;
	uint64_t bytes = 0;

	mu_diff_begin(view->diff, kind);
	for (i = 0; mu_diff_next(view->diff, kind, &change); i++) {
		if (i < view->limit)
			put_change(
			    out, view, kind == MU_GREW ? '+' : '-', &change);
		else
			bytes = mu_saturated_add(bytes, change.bytes);
	}
	if (count <= view->limit)
		return;
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
	size_t grew = diff->count[MU_GREW];

	put_total(out, view, 0);
	put_total(out, view, 1);
	mu_notes_text(out, view->notes);
	fprintf(out,
	    "%s%zu stack%s grew by %" PRIu64 " bytes, %zu shrank by %" PRIu64
	    " bytes%s\n\n",
	    view->style.bold, grew, grew == 1 ? "" : "s",
	    diff->changed[MU_GREW], diff->count[MU_SHRANK],
	    diff->changed[MU_SHRANK], view->style.off);
	put_changes(out, view, MU_GREW);
	put_changes(out, view, MU_SHRANK);
}
