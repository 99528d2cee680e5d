#include "lib/view/leaktracer_text.h"

#include <inttypes.h>

#include "lib/term/out.h"
#include "lib/view/location_text.h"
#include "lib/view/saturate.h"

static void
put_group(FILE *out, const struct mu_leaktracer_view *view,
    const struct mu_leak_group *group)
{
	const struct mu_record *record = group->last;
	size_t i;

	fprintf(out,
	    "%" PRIu64 " bytes lost in %" PRIu64 " blocks (one of them"
	    " allocated at %.40s), from following call stack:\n",
	    group->bytes, group->blocks,
	    record->time != NULL ? record->time : "?");
	for (i = 0; i < record->num_frames; i++)
		fprintf(out, "\t%s\n",
		    mu_location_text_line(
			view->frames->named[record->frames[i]].location)
			.text);
}

static void
put_rest(FILE *out, const struct mu_leak_groups *groups, size_t from)
{
	size_t more = groups->count - from;
	uint64_t bytes = 0;

	for (; from < groups->count; from++)
		bytes = mu_saturated_add(bytes, groups->list[from].bytes);
	fprintf(out, "(and %" PRIu64 " bytes from %zu more call stack%s)\n",
	    bytes, more, more == 1 ? "" : "s");
}

void
mu_leaktracer_text(FILE *out, const struct mu_leaktracer_view *view)
{
	const struct mu_leak_groups *groups = view->groups;
	const char *program = view->program != NULL ? view->program : "?";
	size_t i;

	fputs("Processing \"", out);
	mu_print_safe(out, view->path);
	fputs("\" log for \"", out);
	mu_print_safe(out, program);
	fputs("\"\nMatching addresses to \"", out);
	mu_print_safe(out, program);
	fprintf(out, "\"\nfound %" PRIu64 " leak(s)\n", groups->blocks);
	mu_notes_text(out, view->notes);
	for (i = 0; i < groups->count && i < view->limit; i++)
		put_group(out, view, &groups->list[i]);
	if (i < groups->count)
		put_rest(out, groups, i);
}
