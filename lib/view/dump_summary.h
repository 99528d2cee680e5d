/*
 * The beginning of a heap dump's report, in text and in HTML.
 *
 * Pure.
 */
#ifndef LIB_VIEW_DUMP_SUMMARY_H
#define LIB_VIEW_DUMP_SUMMARY_H

#include <stdio.h>

#include "lib/term/style.h"
#include "lib/view/frames.h"
#include "lib/view/heap_dump_file.h"
#include "lib/view/notes.h"
#include "lib/view/tree.h"

#define MU_DUMP_SECTIONS 2

/* The data of a dump that are shown. */
struct mu_dump_view {
	const char *path;
	const struct mu_heap_dump *dump;
	const struct mu_frames *frames;
	const struct mu_notes *notes;
	/* The process's own blocks, and those inherited by a fork; pruned. */
	struct mu_tree trees[MU_DUMP_SECTIONS];
	/* Their records, from mu_tree_html_add(); for a page only. */
	struct mu_sorter *rows;
	struct mu_style style;
};

/* Bytes and blocks of all sections. */
uint64_t mu_dump_view_bytes(const struct mu_dump_view *view);
uint64_t mu_dump_view_blocks(const struct mu_dump_view *view);

/* Such as "Own (z 1; on Android the app's)". */
const char *mu_dump_section_name(size_t section);

/* "1024 bytes in 3 blocks", with the right plurals. */
struct mu_amount {
	char text[80];
};

/* The text, by value. UINT64_MAX is a sum that overflowed: "over ...". */
struct mu_amount mu_amount(uint64_t bytes, uint64_t blocks);

/* "12.3%", of WHOLE; "-" if that is 0. */
struct mu_percent {
	char text[16];
};

/* The text, by value, with one decimal. */
struct mu_percent mu_percent(uint64_t part, uint64_t whole);

#endif
