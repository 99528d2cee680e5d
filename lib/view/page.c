/*
 * The policy allows exactly this style and this script, by their SHA-256
 * (tests/live/command/cli_view.sh compares them). If a name ever gets past the
 * escaping, no browser runs it, and nothing is fetched.
 */
#include "lib/view/page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/term/safe_text.h"
#include "lib/view/html_text.h"
#include "lib/view/location_text.h"
#include "lib/view/page_text.h"

#define NAME_SIZE 4096 /* longer names are cut */

void
mu_page_begin(FILE *out, const struct mu_page *page)
{
	fprintf(out,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; style-src 'sha256-%s'; script-src"
	    " 'sha256-%s'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>",
	    mu_page_style_sha256, mu_page_script_sha256);
	mu_html_text(out, page->title);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>",
	    mu_page_style);
	mu_html_text(out, page->title);
	fputs("</h1>\n", out);
}

void
mu_page_notes(FILE *out, const struct mu_notes *notes)
{
	size_t i;

	if (notes->count == 0)
		return;
	fputs("<ul>\n", out);
	for (i = 0; i < notes->count; i++) {
		fputs("<li>", out);
		mu_html_text(out, notes->lines[i]);
		fputs(".</li>\n", out);
	}
	if (notes->num_more > 0)
		fprintf(out, "<li>There are %zu more notes.</li>\n",
		    notes->num_more);
	fputs("</ul>\n", out);
}

void
mu_page_search(FILE *out)
{
	fputs("<p id=\"tools\" class=\"tools\" hidden><label>Search <input"
	      " id=\"search\" type=\"search\"></label> <button id=\"unfold\""
	      " type=\"button\">Unfold all</button> <button id=\"fold\""
	      " type=\"button\">Fold all</button> <output id=\"found\">"
	      "</output></p>\n",
	    out);
}

/* A string of JSON that cannot end the element that it is in. */
static void
put_string(FILE *out, const char *text)
{
	char safe[NAME_SIZE];
	const char *p = mu_safe_for_terminal(text, safe, sizeof(safe));

	fputc('"', out);
	for (; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', out);
		if (*p == '<')
			fputs("\\u003c", out);
		else
			fputc(*p, out);
	}
	fputc('"', out);
}

/* What is shown of a frame, its function, and its module. */
static void
put_frame(FILE *out, const struct mu_location *location)
{
	struct mu_location_text text = mu_location_text(location);
	const char *module =
	    location->module == NULL ? "(no module)" : location->module;

	fputc('[', out);
	put_string(out, text.text);
	fputc(',', out);
	put_string(
	    out, location->function == NULL ? text.text : location->function);
	fputc(',', out);
	put_string(out, module);
	fputc(']', out);
}

static void
put_row(FILE *out, const struct mu_page_row *row)
{
	size_t i;

	fprintf(out, "[%" PRIu64 ",%" PRIu64, row->bytes, row->blocks);
	for (i = 0; i < row->num_frames; i++)
		fprintf(out, ",%" PRIuPTR, row->frames[i]);
	fputc(']', out);
}

void
mu_page_end(FILE *out, const struct mu_page *page)
{
	struct mu_page_row row;
	bool first;
	size_t i;

	fputs(
	    "<script type=\"application/json\" id=\"data\">{\"frames\":[", out);
	for (i = 0; i < page->frames->num_named; i++) {
		fputs(i == 0 ? "" : ",\n", out);
		put_frame(out, page->frames->named[i].location);
	}
	fputs("],\n\"sections\":[", out);
	for (i = 0; i < page->num_sections; i++) {
		fputs(i == 0 ? "[" : ",\n[", out);
		page->begin(page->ctx, i);
		for (first = true; page->next(page->ctx, &row); first = false) {
			fputs(first ? "" : ",\n", out);
			put_row(out, &row);
		}
		fputc(']', out);
	}
	fprintf(out, "]}</script>\n<script>%s</script>\n</body>\n</html>\n",
	    mu_page_script);
}
