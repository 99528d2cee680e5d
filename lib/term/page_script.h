/*
 * How the scripts of all pages begin: their data, and an element with text.
 */
#ifndef LIB_TERM_PAGE_SCRIPT_H
#define LIB_TERM_PAGE_SCRIPT_H

#define MU_PAGE_SCRIPT_DATA \
	"\"use strict\";\n" \
	"(function () {\n"  \
	"var data = JSON.parse(document.getElementById(\"data\").textContent);\n"

#define MU_PAGE_SCRIPT_MAKE                          \
	"function make(tag, text, name) {\n"         \
	"var e = document.createElement(tag);\n"     \
	"if (text !== undefined && text !== null)\n" \
	"e.textContent = text;\n"                    \
	"if (name)\n"                                \
	"e.className = name;\n"                      \
	"return e;\n"                                \
	"}\n"

#endif
