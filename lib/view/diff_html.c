#include "lib/view/diff_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/term/human.h"
#include "lib/view/html_text.h"
#include "lib/view/page.h"

struct rows {
	struct mu_diff *diff;
	enum mu_change_kind kind;
	struct mu_change now;
};

static void
begin_rows(void *ctx, size_t section)
{
	struct rows *rows = ctx;

	rows->kind = (enum mu_change_kind)section;
	mu_diff_begin(rows->diff, rows->kind);
}

static bool
next_row(void *ctx, struct mu_page_row *row)
{
	struct rows *rows = ctx;

	if (!mu_diff_next(rows->diff, rows->kind, &rows->now))
		return false;
	*row = (struct mu_page_row) {
		.bytes = rows->now.bytes,
		.blocks = rows->now.blocks,
		.frames = rows->now.frames,
		.num_frames = rows->now.num_frames,
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
put_section(FILE *out, const struct mu_diff *diff, enum mu_change_kind kind)
{
	size_t count = diff->count[kind];

	fprintf(out,
	    "<section id=\"s%d\">\n<h2>%s: %s by %zu stack%s</h2>\n"
	    "</section>\n",
	    (int)kind, kind == MU_GREW ? "Grew" : "Shrank",
	    mu_human_bytes(diff->changed[kind]).text, count,
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
	struct rows rows = { .diff = view->diff };
	const struct mu_page page = {
		.title = "What grew between two heap dumps",
		.frames = view->frames,
		.num_sections = MU_CHANGE_KINDS,
		.begin = begin_rows,
		.next = next_row,
		.ctx = &rows,
	};
	bool written;

	mu_page_begin(out, &page);
	put_total(out, view, 0);
	put_total(out, view, 1);
	mu_page_notes(out, view->notes);
	mu_page_search(out);
	put_section(out, view->diff, MU_GREW);
	put_section(out, view->diff, MU_SHRANK);
	written = put_text(out, view);
	mu_page_end(out, &page);
	return written;
}
