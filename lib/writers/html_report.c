/*
 * A report as one page without network: the JSON report as data, the text
 * report to be read without a script and to be copied, and a script that shows
 * both.
 */
#include <string.h>

#include "lib/term/entities.h"
#include "lib/term/human.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/html_page.h"
#include "lib/writers/json_report.h"
#include "lib/writers/text_report.h"
#include "lib/writers/writer.h"

#define ESCAPED "&<>\"'"

static void
put_raw(const struct mu_out *out, const char *text)
{
	out->put(out->ctx, text, strlen(text));
}

/* JSON has "<" in strings only; escaped it cannot end the element. */
static void
put_json(void *ctx, const char *bytes, size_t length)
{
	const struct mu_out *out = ctx;
	size_t i, first = 0;

	for (i = 0; i < length; i++) {
		if (bytes[i] != '<')
			continue;
		out->put(out->ctx, bytes + first, i - first);
		put_raw(out, "\\u003c");
		first = i + 1;
	}
	out->put(out->ctx, bytes + first, length - first);
}

static void
put_begin(const struct mu_out *out, const struct mu_report *report)
{
	struct mu_entities entities = { out, ESCAPED };
	const struct mu_out text = { .put = mu_entities_put, .ctx = &entities };

	put_raw(out,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; style-src 'sha256-");
	put_raw(out, mu_html_style_sha256);
	put_raw(out, "'; script-src 'sha256-");
	put_raw(out, mu_html_script_sha256);
	put_raw(out,
	    "'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>");
	mu_put_safe(&text, report->program);
	put_raw(out, "</title>\n<style>");
	put_raw(out, mu_html_style);
	put_raw(out, "</style>\n</head>\n<body>\n<h1>");
	mu_put_safe(&text, report->program);
	put_raw(out, "</h1>\n");
}

/* "Lost: 6.8 KiB in 130 blocks" or why nothing is known. */
static void
put_verdict(const struct mu_out *out, const struct mu_report *report)
{
	struct mu_entities entities = { out, ESCAPED };
	const struct mu_out text = { .put = mu_entities_put, .ctx = &entities };
	const struct UnreachableMemoryInfo *info = &report->info;

	put_raw(out, "<p class=\"verdict\">");
	if (!mu_exit_checked(info))
		mu_put_safe(&text, info->reason);
	else
		mu_put(&text, "Lost: %s in %zu block%s, of %s allocated",
		    mu_human_bytes(info->leak_bytes).text, info->num_leaks,
		    info->num_leaks == 1 ? "" : "s",
		    mu_human_bytes(info->allocation_bytes).text);
	put_raw(out, "</p>\n");
}

static void
put_frame(const struct mu_out *out)
{
	put_raw(out,
	    "<div class=\"tools\" id=\"tools\" hidden>"
	    "<input id=\"search\" type=\"search\" placeholder=\"Search\""
	    " aria-label=\"Search\">"
	    "<button id=\"copy\" type=\"button\">Copy as text</button>"
	    "<output id=\"found\"></output></div>\n"
	    "<section hidden><h2>Lost, by size</h2>"
	    "<div class=\"map\" id=\"lost_map\"></div></section>\n"
	    "<section class=\"scroll\"><h2>What is lost</h2>"
	    "<table id=\"groups\"></table></section>\n"
	    "<section hidden><h2>Held, by holder</h2>"
	    "<div class=\"map\" id=\"retained_map\"></div></section>\n"
	    "<section class=\"scroll\"><h2>What holds the rest</h2>"
	    "<table id=\"retained\"></table></section>\n"
	    "<section class=\"scroll\"><h2>What is in use</h2>"
	    "<table id=\"in_use\"></table></section>\n");
}

static bool
write_page(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	struct mu_entities entities = { out, ESCAPED };
	const struct mu_out text = { .put = mu_entities_put, .ctx = &entities };
	const struct mu_out json = { .put = put_json, .ctx = (void *)out };
	struct mu_shown plain = *shown;
	bool ok;

	plain.style = MU_STYLE_PLAIN;
	put_begin(out, report);
	put_verdict(out, report);
	put_frame(out);
	put_raw(out, "<details><summary>As text</summary><pre id=\"text\">");
	ok = mu_text_report(&text, report, &plain);
	put_raw(out,
	    "</pre></details>\n"
	    "<script type=\"application/json\" id=\"data\">");
	ok &= mu_json_report(&json, report, shown);
	put_raw(out, "</script>\n<script>");
	put_raw(out, mu_html_script);
	put_raw(out, "</script>\n</body>\n</html>\n");
	return ok;
}

const struct mu_writer mu_writer_html = {
	.name = "html",
	.write = write_page,
};
