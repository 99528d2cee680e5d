/*
 * Escape text for HTML.
 *
 * Pure.
 */
#ifndef LIB_VIEW_HTML_TEXT_H
#define LIB_VIEW_HTML_TEXT_H

#include <stdio.h>

/*
 * Write TEXT for an element or a quoted attribute: control characters and
 * invalid UTF-8 as on a terminal, and no character that is special in HTML.
 */
void mu_html_text(FILE *out, const char *text);

#endif
