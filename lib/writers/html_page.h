/*
 * The page of --format=html without its data.
 *
 * Pure.
 */
#ifndef LIB_WRITERS_HTML_PAGE_H
#define LIB_WRITERS_HTML_PAGE_H

extern const char mu_html_style[], mu_html_script[];

/*
 * The content policy allows exactly these: their SHA-256 in base64
 * (tests/live/command/html.sh compares).
 */
extern const char mu_html_style_sha256[], mu_html_script_sha256[];

#endif
