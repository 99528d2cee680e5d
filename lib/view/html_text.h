/*
 * Words that HTML takes for nothing but words.
 *
 * Pure.
 */
#ifndef LIB_VIEW_HTML_TEXT_H
#define LIB_VIEW_HTML_TEXT_H

#include <stdio.h>

/*
 * TEXT as contents of an element or of an attribute in quotation marks: control
 * characters and what is no UTF-8 as on a terminal, and no mark that means
 * something to HTML.
 */
void mu_html_text(FILE *out, const char *text);

#endif
