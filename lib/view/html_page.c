/*
 * The page's policy allows exactly this style and this script, by their SHA-256
 * (tests/live/cli_view.sh compares them): should a name ever get past the
 * escaping, no browser runs it, and nothing is fetched.
 */
#include "lib/view/html_page.h"

#include "lib/view/html_text.h"

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

void
mu_html_page_begin(FILE *out, const char *title)
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

void
mu_html_page_search(FILE *out)
{
	fputs("<p id=\"tools\" hidden><label>Search <input id=\"search\""
	      " type=\"search\"></label> <button id=\"unfold\" type=\"button\">"
	      "Unfold all</button> <button id=\"fold\" type=\"button\">Fold all"
	      "</button> <output id=\"found\"></output></p>\n",
	    out);
}

void
mu_html_page_end(FILE *out)
{
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", script);
}
