#include "lib/view/diff_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/term/human.h"
#include "lib/view/html_text.h"
#include "lib/view/page.h"

enum { GREW, SHRANK, SECTIONS };

struct rows {
	const struct mu_diff *diff;
	size_t next[SECTIONS], end[SECTIONS]; /* changes */
};

static bool
next_row(void *ctx, size_t section, struct mu_page_row *row)
{
	struct rows *rows = ctx;
	const struct mu_change *change;

	if (rows->next[section] == rows->end[section])
		return false;
	change = &rows->diff->changes[rows->next[section]++];
	*row = (struct mu_page_row) {
		.bytes = change->bytes,
		.blocks = change->grew ? change->after - change->before
				       : change->before - change->after,
		.frames = change->record->frames,
		.num_frames = change->record->num_frames,
	};
	return true;
}

static void
put_total(FILE *out, const struct mu_diff_view *view, size_t side)
{
	const struct mu_diff *diff = view->diff;

	fprintf(out, "<p>%s: <strong>%s</strong> in %" PRIu64 " block%s, ",
	    side == 0 ? "Before" : "Now",
	    mu_human_bytes(diff->bytes[side]).text, diff->blocks[side],
	    diff->blocks[side] == 1 ? "" : "s");
	mu_html_text(out, view->paths[side]);
	fputs("</p>\n", out);
}

static void
put_section(
    FILE *out, size_t section, const char *words, size_t count, uint64_t bytes)
{
	fprintf(out,
	    "<section id=\"s%zu\">\n<h2>%s: %s by %zu stack%s</h2>\n"
	    "</section>\n",
	    section, words, mu_human_bytes(bytes).text, count,
	    count == 1 ? "" : "s");
}

/* Line by line: mu_html_text() cuts what is long. */
static bool
put_text(FILE *out, const struct mu_diff_view *view)
{
	struct mu_diff_view plain = *view;
	char *text = NULL, *line, *end;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return false;
	plain.style = MU_STYLE_PLAIN;
	mu_diff_text(stream, &plain);
	if (fclose(stream) != 0) {
		free(text);
		return false;
	}
	fputs("<details class=\"part\"><summary>As text</summary>\n<pre>", out);
	for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		mu_html_text(out, line);
		fputc('\n', out);
	}
	fputs("</pre></details>\n", out);
	free(text);
	return true;
}

bool
mu_diff_html(FILE *out, const struct mu_diff_view *view)
{
	const struct mu_diff *diff = view->diff;
	struct rows rows = {
		.diff = diff,
		.next = { 0, diff->num_grew },
		.end = { diff->num_grew, diff->count },
	};
	const struct mu_page page = {
		.title = "What grew between two heap dumps",
		.frames = view->frames,
		.num_sections = SECTIONS,
		.next = next_row,
		.ctx = &rows,
	};
	bool written;

	mu_page_begin(out, &page);
	put_total(out, view, 0);
	put_total(out, view, 1);
	mu_page_notes(out, view->notes);
	mu_page_search(out);
	put_section(out, GREW, "Grew", diff->num_grew, diff->grown);
	put_section(
	    out, SHRANK, "Shrank", diff->count - diff->num_grew, diff->shrunk);
	written = put_text(out, view);
	mu_page_end(out, &page);
	return written;
}
