#include "lib/view/leaktracer_text.h"

#include <inttypes.h>

#include "lib/term/out.h"
#include "lib/view/location_text.h"
#include "lib/view/saturate.h"

static void
put_group(FILE *out, const struct mu_leaktracer_view *view,
    const struct mu_record *group)
{
	size_t i;

	fprintf(out,
	    "%" PRIu64 " bytes lost in %" PRIu64 " blocks (one of them"
	    " allocated at %s), from following call stack:\n",
	    group->bytes, group->count, group->time);
	for (i = 0; i < group->num_frames; i++)
		fprintf(out, "\t%s\n",
		    mu_location_text_line(
			view->frames->named[group->frames[i]].location)
			.text);
}

static void
put_groups(FILE *out, const struct mu_leaktracer_view *view)
{
	size_t i, more;
	struct mu_record group;
	uint64_t bytes = 0;

	mu_sorter_begin(&view->groups->sorted);
	for (i = 0; mu_leak_groups_next(view->groups, &group); i++) {
		if (i < view->limit)
			put_group(out, view, &group);
		else
			bytes = mu_saturated_add(bytes, group.bytes);
	}
	if (i <= view->limit)
		return;
	more = i - view->limit;
	fprintf(out, "(and %" PRIu64 " bytes from %zu more call stack%s)\n",
	    bytes, more, more == 1 ? "" : "s");
}

void
mu_leaktracer_text(FILE *out, const struct mu_leaktracer_view *view)
{
	const char *program = view->program != NULL ? view->program : "?";

	fputs("Processing \"", out);
	mu_print_safe(out, view->path);
	fputs("\" log for \"", out);
	mu_print_safe(out, program);
	fputs("\"\nMatching addresses to \"", out);
	mu_print_safe(out, program);
	fprintf(out, "\"\nfound %" PRIu64 " leak(s)\n", view->groups->blocks);
	mu_notes_text(out, view->notes);
	put_groups(out, view);
}
