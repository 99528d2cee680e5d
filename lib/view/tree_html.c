/* A node with nodes below it is a <details> element, any other a <div>. */
#include "lib/view/tree_html.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/view/html_text.h"
#include "lib/view/location_text.h"

#define OPEN_SHARE 0.1 /* nodes with less of the whole are folded at first */

struct writer {
	FILE *out;
	const struct mu_dump_view *view;
	uint64_t whole;
	struct mu_tree_walk walk;
};

#define STYLE_SHA256 "Zr7EBvJIENN0vQj0VQ/oheR5h6RAidZaYxe5dG4b4fY="
#define SCRIPT_SHA256 "kptz/yk68LSeTGA0RbRAxeKXSBuzul7UgOKUU5+VxKA="

static const char style[] =
    ":root{color-scheme:light dark}\n"
    "body{font:14px/1.5 sans-serif;margin:1em 2em}\n"
    "section{font-family:monospace}\n"
    "h2{font-family:sans-serif}\n"
    ".n{margin-left:1.2em}\n"
    ".n.go{margin-left:0}\n"
    "div.n{padding-left:1em}\n"
    "summary{cursor:pointer}\n"
    "summary:hover,div.n:hover{background:#8883}\n"
    "b{display:inline-block;min-width:6em;text-align:right}\n"
    "i{display:inline-block;min-width:4em;text-align:right;"
    "font-style:normal}\n"
    "u{display:inline-block;min-width:9em;text-align:right;"
    "text-decoration:none}\n"
    "meter{width:5em}\n"
    ".more{opacity:.7}\n"
    ".searching .n:not(.hit):not(.way){display:none}\n"
    ".searching .hit .n.n.n.n{display:block}\n"
    ".hit>summary,div.hit{background:#fc06}\n";

static const char script[] =
    "\"use strict\";\n"
    "(function () {\n"
    "var search = document.getElementById(\"search\");\n"
    "var found = document.getElementById(\"found\");\n"
    "var all = Array.from(document.querySelectorAll(\".n\"));\n"
    "function words(e) {\n"
    "return (e.tagName === \"DETAILS\" ? e.firstElementChild : e)"
    ".textContent.toLowerCase();\n"
    "}\n"
    "function show(e) {\n"
    "e.classList.add(\"hit\");\n"
    "for (e = e.parentElement; e && e.classList.contains(\"n\") &&"
    " !e.classList.contains(\"way\"); e = e.parentElement) {\n"
    "e.classList.add(\"way\");\n"
    "e.open = true;\n"
    "}\n"
    "}\n"
    "function look() {\n"
    "var wanted = search.value.trim().toLowerCase(), hits = [];\n"
    "all.forEach(function (e) {\n"
    "e.classList.remove(\"hit\", \"way\");\n"
    "});\n"
    "if (wanted)\n"
    "hits = all.filter(function (e) {\n"
    "return words(e).indexOf(wanted) >= 0;\n"
    "});\n"
    "hits.forEach(show);\n"
    "document.body.classList.toggle(\"searching\", wanted !== \"\");\n"
    "found.textContent = wanted ? hits.length + \" found\" : \"\";\n"
    "}\n"
    "function open_all(open) {\n"
    "all.forEach(function (e) {\n"
    "e.open = open;\n"
    "});\n"
    "}\n"
    "search.addEventListener(\"input\", look);\n"
    "document.getElementById(\"unfold\").addEventListener(\"click\","
    " function () { open_all(true); });\n"
    "document.getElementById(\"fold\").addEventListener(\"click\","
    " function () { open_all(false); });\n"
    "document.getElementById(\"tools\").hidden = false;\n"
    "})();\n";

/*
 * The page around the trees: style, search, and content policy.
 *
 * The policy allows exactly this style and this script, by their SHA-256
 * (tests/live/command/cli_view.sh compares them). If a name ever gets past the
 * escaping, no browser runs it, and nothing is fetched.
 */

/* TITLE is escaped here. */
static void
html_page_begin(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\""
	      "default-src 'none'; style-src 'sha256-" STYLE_SHA256
	      "'; script-src 'sha256-" SCRIPT_SHA256 "'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>",
	    out);
	mu_html_text(out, title);
	fprintf(
	    out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
	mu_html_text(out, title);
	fputs("</h1>\n", out);
}

/* A search field, which is visible if scripts run. */
static void
html_page_search(FILE *out)
{
	fputs("<p id=\"tools\" hidden><label>Search <input id=\"search\""
	      " type=\"search\"></label> <button id=\"unfold\" type=\"button\">"
	      "Unfold all</button> <button id=\"fold\" type=\"button\">Fold all"
	      "</button> <output id=\"found\"></output></p>\n",
	    out);
}

static void
html_page_end(FILE *out)
{
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", script);
}

static void
put_figures(const struct writer *writer, uint64_t bytes, uint64_t blocks)
{
	double whole = writer->whole == 0 ? 1 : (double)writer->whole;

	fprintf(writer->out,
	    "<b>%" PRIu64 "</b> <meter value=\"%.4f\"></meter> <i>%s</i>"
	    " <u>%" PRIu64 " block%s</u> ",
	    bytes, (double)bytes / whole, mu_share(bytes, writer->whole).text,
	    blocks, blocks == 1 ? "" : "s");
}

static void
put_frame(const struct writer *writer, const struct mu_tree_node *node)
{
	const struct mu_location *location =
	    writer->view->frames->named[node->frame].location;

	fputs("<span", writer->out);
	if (location->module != NULL) {
		fputs(" title=\"", writer->out);
		mu_html_text(writer->out, location->module);
		fprintf(
		    writer->out, "+0x%lx\"", (unsigned long)location->offset);
	}
	fputc('>', writer->out);
	mu_html_text(writer->out, mu_location_text(location).text);
	fputs("</span>", writer->out);
}

static void
enter(const struct writer *writer)
{
	const struct mu_tree_walk *walk = &writer->walk;
	const struct mu_tree_node *node = &walk->tree->nodes[walk->node];
	bool goes_on = mu_tree_continues(walk->tree, walk->node);
	bool open = goes_on ||
	    (double)node->bytes >= OPEN_SHARE * (double)writer->whole;

	fprintf(writer->out, "<%s class=\"n%s\"%s>",
	    node->num_children > 0 ? "details" : "div", goes_on ? " go" : "",
	    node->num_children > 0 && open ? " open" : "");
	if (node->num_children > 0)
		fputs("<summary>", writer->out);
	if (!goes_on)
		put_figures(writer, node->bytes, node->blocks);
	put_frame(writer, node);
	fputs(node->num_children > 0 ? "</summary>\n" : "", writer->out);
}

static void
put_rest(const struct writer *writer, const char *words)
{
	fputs("<div class=\"n more\">", writer->out);
	put_figures(writer, writer->walk.bytes, writer->walk.blocks);
	fprintf(writer->out, "%s</div>\n", words);
}

static void
put_event(const struct writer *writer, enum mu_tree_event event)
{
	const struct mu_tree_walk *walk = &writer->walk;
	char words[64];

	if (event == MU_TREE_ENTER) {
		enter(writer);
	} else if (event == MU_TREE_LEAVE) {
		fputs(walk->tree->nodes[walk->node].num_children > 0
			? "</details>\n"
			: "</div>\n",
		    writer->out);
	} else if (event == MU_TREE_OWN) {
		put_rest(writer,
		    walk->depth == 0 ? "(no stack was recorded)" : "(here)");
	} else {
		snprintf(words, sizeof(words), "(%zu smaller branch%s, pruned)",
		    walk->branches, walk->branches == 1 ? "" : "es");
		put_rest(writer, words);
	}
}

static void
put_section(FILE *out, const struct mu_dump_view *view, size_t section)
{
	const struct mu_tree *tree = &view->trees[section];
	struct writer writer = { .out = out,
		.view = view,
		.whole = tree->nodes[0].bytes,
		.walk = { .tree = tree } };
	enum mu_tree_event event;

	if (tree->num_records == 0)
		return;
	fprintf(out,
	    "<section>\n<h2>%s</h2>\n<p>%s (%s of all), %zu stack%s; frames"
	    " from the outermost down</p>\n",
	    mu_dump_section_name(section),
	    mu_amount(tree->nodes[0].bytes, tree->nodes[0].blocks).text,
	    mu_share(tree->nodes[0].bytes, mu_dump_view_bytes(view)).text,
	    tree->num_stacks, tree->num_stacks == 1 ? "" : "s");
	while ((event = mu_tree_step(&writer.walk)) != MU_TREE_END)
		put_event(&writer, event);
	fputs("</section>\n", out);
}

static void
put_notes(FILE *out, const struct mu_notes *notes)
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
mu_tree_html(FILE *out, const struct mu_dump_view *view)
{
	char title[512];
	size_t i;

	snprintf(title, sizeof(title), "Heap dump %s", view->path);
	html_page_begin(out, title);
	fprintf(out, "<p>Not freed: <strong>%s</strong>, v1.%u",
	    mu_amount(mu_dump_view_bytes(view), mu_dump_view_blocks(view)).text,
	    view->dump->version);
	if (view->dump->fingerprint[0] != '\0') {
		fputs(", build ", out);
		mu_html_text(out, view->dump->fingerprint);
	}
	fputs(".</p>\n", out);
	put_notes(out, view->notes);
	html_page_search(out);
	for (i = 0; i < MU_DUMP_SECTIONS; i++)
		put_section(out, view, i);
	html_page_end(out);
}
