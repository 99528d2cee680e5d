/*
 * A heap of mimalloc while it is read: what was found, and its pages.
 *
 * detect() finds the heap of the first thread among variables (find.c), whose
 * cookie all segments have; list() finds these among the mappings (segments.c),
 * takes from their pages what is free (pages.c), compares these with what the
 * heaps of all threads count (heaps.c) and adds the rest to the table of blocks
 * (mimalloc.c).
 *
 * mimalloc has no lock that would stop it: in the image of a stopped process a
 * thread may be in the middle of a change. Changes of a page, of a queue or of
 * a segment are then seen, as counter and list differ. A list of freed blocks
 * that a thread has taken off is in its registers, which are roots, and each
 * block leads to the next: these blocks count as reachable.
 *
 * Runs in: original (find.c), sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_MIMALLOC_HEAP_H
#define HEAPWALK_HEAPS_MIMALLOC_HEAP_H

#include "heapwalk/heaps/found.h"
#include "heapwalk/heaps/mimalloc/layout.h"
#include "heapwalk/subject/each_word.h"

/* What detect() finds. */
struct mu_mimalloc {
	struct mu_heap_found found;
	const struct mu_mi_layout *layout;
	uintptr_t main;   /* _mi_heap_main */
	uintptr_t cookie; /* of that */
};

struct mu_mi_segment {
	struct mu_range range;
	uintptr_t thread; /* 0: abandoned */
};

/* A page with blocks, all of one size. */
struct mu_mi_page {
	struct mu_range range; /* of its blocks, free ones too */
	size_t size;           /* of each block */
	size_t capacity;       /* number of blocks */
	uintptr_t heap;        /* 0: abandoned */
	size_t segment;        /* index of it */
	uintptr_t free, local_free, thread_free;
	size_t used;
	const char *view; /* at range.begin */
	uint64_t *live;   /* bit i: block i is the program's */
};

struct mu_mi_walk {
	const struct mu_snapshot *snap;
	struct mu_arena *memory;
	struct mu_why *why;
	struct mu_mimalloc mi;
	struct mu_ranges owned; /* of segments in use, and of free ones */
	struct mu_mi_segment *segments; /* in use, by address */
	size_t num_segments, max_segments;
	struct mu_mi_page *pages; /* by address */
	size_t num_pages, max_pages;
	size_t overhead; /* bytes before the first page of segments */
};

/*
 * Find mimalloc in the variables of programs and libraries. found->found.file
 * is NULL if it is not there, or none whose structures are known.
 */
void mu_mi_find(struct mu_mimalloc *found, const struct mu_snapshot *snap);

/* True if SEGMENT, aligned, has the cookie of a segment. */
bool mu_mi_is_segment(const struct mu_snapshot *snap,
    const struct mu_mimalloc *mi, uintptr_t segment);

/* Read walk->segments and, of each, the headers of its pages. */
enum mu_status mu_mi_segments_read(struct mu_mi_walk *walk);

/* Add the page of the SLICES of the last segment; its header is at VIEW. */
enum mu_status mu_mi_page_add(
    struct mu_mi_walk *walk, const char *view, struct mu_range slices);

/* Read which blocks of all pages are free. */
enum mu_status mu_mi_pages_read(struct mu_mi_walk *walk);

/* Take the lists of heaps of freed blocks, and compare what they count. */
enum mu_status mu_mi_heaps_check(struct mu_mi_walk *walk);

/*
 * Turn the live block at ADDRESS of PAGE into a free one. Returns its bytes,
 * which begin with the next block's address; NULL if no live block begins
 * there.
 */
const char *mu_mi_take(struct mu_mi_page *page, uintptr_t address);

#endif
