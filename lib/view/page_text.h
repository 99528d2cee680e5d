/*
 * The style and the script of the pages of heap dumps, and their SHA-256 in
 * base64, for the content policy.
 */
#ifndef LIB_VIEW_PAGE_TEXT_H
#define LIB_VIEW_PAGE_TEXT_H

extern const char mu_page_style[], mu_page_script[];
extern const char mu_page_style_sha256[], mu_page_script_sha256[];

#endif
