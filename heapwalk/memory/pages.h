/*
 * Which pages of our own address space can hold a pointer at all.
 *
 * Of private memory, those that were ever written: a page that is neither
 * present nor swapped reads as zeros, and an unmodified page of a file was
 * written by the linker. /proc/self/pagemap knows. Of shared memory the page
 * tables are not copied at fork, so that pagemap knows nothing; mincore()
 * knows of files that live in memory only. To read a hole of such a file
 * would fill it, for the program too. While swap is in use mincore() cannot be
 * believed, and everything counts.
 *
 * True of an image that stands still: answers are kept for a while.
 */
#ifndef HEAPWALK_MEMORY_PAGES_H
#define HEAPWALK_MEMORY_PAGES_H

#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/tmpfs.h"

#define MU_PAGES_WINDOW 512 /* pages asked for at a time */

struct mu_pages {
	int pagemap; /* descriptor, or -1 */
	size_t page_size;
	bool no_scan; /* the kernel has no PAGEMAP_SCAN (before 6.7) */
	bool foreign; /* of another process: mincore() knows nothing of it */

	/* Asked once, when it matters. */
	bool asked_swap, swap_used; /* or cannot tell */
	struct mu_tmpfs tmpfs;

	/* The last answer: pagemap entries of COUNT pages from FIRST. */
	bool window_resident; /* made from mincore()'s */
	uintptr_t first;      /* page number */
	size_t count;
	uint64_t window[MU_PAGES_WINDOW];
};

/* Open pagemap; false if it cannot be had. Close in any case. */
bool mu_pages_open(struct mu_pages *pages, size_t page_size);
void mu_pages_close(struct mu_pages *pages);

/*
 * The same of another process, whose PAGEMAP stays the caller's. Of shared
 * memory only what the process itself has looked at counts.
 */
void mu_pages_of(struct mu_pages *pages, int pagemap, size_t page_size);

/* Does the kernel find the next page of a hole of any size (PAGEMAP_SCAN)? */
bool mu_pages_can_skip(struct mu_pages *pages);

/*
 * Has a page of RANGE, private memory without a file, been written, in this
 * process or before it was forked? RANGE begins and ends with a page. False
 * also if the kernel cannot tell.
 */
bool mu_pages_any_written(const struct mu_pages *pages, struct mu_range range);

/*
 * True if pages are swapped out, or if that is unknown: then a page that is in
 * no page table and no page cache may hold data all the same.
 */
bool mu_pages_swap_used(struct mu_pages *pages);

/*
 * The first run of pages in RANGE, which lies inside MAPPING, that can hold a
 * pointer; clipped to RANGE. False: none.
 */
bool mu_pages_next(struct mu_pages *pages, const struct mu_mapping *mapping,
    struct mu_range range, struct mu_range *part);

#endif
