/*
 * The page around the trees: its looks, its search, and what it may do.
 *
 * Pure.
 */
#ifndef LIB_VIEW_HTML_PAGE_H
#define LIB_VIEW_HTML_PAGE_H

#include <stdio.h>

/* TITLE is escaped here. */
void mu_html_page_begin(FILE *out, const char *title);

/* A field for the search, which shows itself if scripts run. */
void mu_html_page_search(FILE *out);

void mu_html_page_end(FILE *out);

#endif
