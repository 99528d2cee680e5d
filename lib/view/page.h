/*
 * A self-contained page about stacks, without network. Its script shows them as
 * flame graphs, bottom up, and by function and module; what the page has
 * besides can be read without it.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_PAGE_H
#define LIB_VIEW_PAGE_H

#include <stdio.h>

#include "lib/view/frames.h"
#include "lib/view/notes.h"
#include "lib/view/sorter.h"

/* A stack, and what it allocated. */
struct mu_page_row {
	uint64_t bytes, blocks;
	const uintptr_t *frames; /* numbers, innermost first */
	size_t num_frames;
};

struct mu_page {
	const char *title; /* escaped here */
	const struct mu_frames *frames;
	size_t
	    num_sections; /* each is in an element with the id "s0", "s1" ... */
	/* Called once for each section: the rows of it are read next. */
	void (*begin)(void *ctx, size_t section);
	/*
	 * Set ROW to the next one, which is valid until the next call; false:
	 * there is no more.
	 */
	bool (*next)(void *ctx, struct mu_page_row *row);
	void *ctx;
};

/* Write the begin of PAGE, up to its heading, to OUT. */
void mu_page_begin(FILE *out, const struct mu_page *page);

/* The notes as a list; nothing if there are none. */
void mu_page_notes(FILE *out, const struct mu_notes *notes);

/* A search field, which is visible if scripts run. */
void mu_page_search(FILE *out);

/* Write the stacks of PAGE and its end. */
void mu_page_end(FILE *out, const struct mu_page *page);

#endif
