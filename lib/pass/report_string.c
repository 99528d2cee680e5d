#include "lib/pass/report_string.h"

#include <stdlib.h>
#include <string.h>

#include "lib/report/frame_names.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"

/*
 * A string of the program's heap. calloc() clears what malloc() leaves in the
 * block behind the string: an address there would hold a lost block. M_PERTURB
 * does not clear it: glibc 2.36's free_perturb() ends one word before the block
 * does, alloc_perturb() at the size asked for.
 */
static char *
new_string(size_t length)
{
	return calloc(1, length + 1);
}

/* STRING, or a replacement with files and lines. */
static char *
symbolize(char *string, size_t length)
{
	struct mu_symbolized named;
	char *better = NULL;

	if (!mu_symbolizer_run(
		&mu_library.symbolizer, string, length, &named)) {
		if (named.why != NULL)
			mu_log_sink_line(
			    MU_LOG_ERROR, "symbolize=1: %s", named.why);
		return string;
	}
	better = new_string(named.length);
	if (better != NULL) {
		memcpy(better, named.text, named.length);
		free(string);
	}
	mu_symbolized_release(&named);
	return better != NULL ? better : string;
}

char *
mu_report_string(
    const struct mu_writer *writer, struct mu_report *report, bool log_contents)
{
	struct mu_frame_names names = { .opened = false };
	const struct mu_shown shown = { .contents = log_contents,
		.fold = mu_library.options.group,
		.style = MU_STYLE_PLAIN };
	struct mu_text text = { NULL, 0, 0 };
	struct mu_out out = mu_out_text(&text);
	char *string;

	report->names = mu_frame_names(&names);
	writer->write(&out, report, &shown);
	string = new_string(text.length);
	if (string != NULL) {
		text = (struct mu_text) { string, text.length + 1, 0 };
		writer->write(&out, report, &shown);
		if (text.length < text.size)
			string = symbolize(string, text.length);
	}
	mu_frame_names_close(&names);
	return string;
}
