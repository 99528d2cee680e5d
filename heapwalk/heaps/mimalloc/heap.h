/*
 * A heap of mimalloc while it is read: what was found, and its pages.
 *
 * detect() finds the heap of the first thread among variables (find.c), whose
 * cookie all segments of mimalloc 2 have, and the page map of mimalloc 3
 * (map_find.c). list() finds the segments among the mappings (segments.c), or
 * the arenas in their list (arenas.c) and the pages in the map (map.c), takes
 * from the pages what is free (pages.c), compares these with what the heaps of
 * all threads count (heaps.c) and adds the rest to the table of blocks
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
	uintptr_t main;      /* _mi_heap_main; since 3.2 heap_main */
	uintptr_t cookie;    /* 2: of that */
	uintptr_t subproc;   /* 3: subproc_main */
	struct mu_range map; /* 3: _mi_page_map[] */
};

struct mu_mi_arena {
	struct mu_range range;
	size_t index; /* in the list of arenas */
	size_t info;  /* bytes of its own data, which it begins with */
	size_t pages; /* how many the map has */
	size_t bits;  /* how many the heaps have */
};

/* A page with blocks, all of one size. */
struct mu_mi_page {
	struct mu_range range; /* of its blocks, free ones too */
	size_t size;           /* of each block */
	size_t capacity;       /* number of blocks */
	uintptr_t heap;        /* 0: abandoned */
	uintptr_t thread;      /* of its segment, or its own; 0: abandoned */
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
	struct mu_ranges owned; /* segments, arenas, other memory of pages */
	struct mu_mi_arena *arenas;
	size_t num_arenas;
	struct mu_mi_page *pages; /* by address */
	size_t num_pages, max_pages;
	size_t overhead; /* bytes before the first page of segments, arenas */
};

/* _mi_heap_main, or since 3.2 the first theap of heap_main. */
static inline uintptr_t
mu_mi_main(const struct mu_snapshot *snap, const struct mu_mimalloc *mi)
{
	return mi->layout->tld_backing != 0
	    ? mi->main
	    : mu_word_at(snap, mi->main + MU_MI3_HEAP_HEAPS);
}

/*
 * Find mimalloc in the variables of programs and libraries. found->found.file
 * is NULL if it is not there, or none whose structures are known.
 */
void mu_mi_find(struct mu_mimalloc *found, const struct mu_snapshot *snap);

/* True if SEGMENT, aligned, has the cookie of a segment. */
bool mu_mi_is_segment(const struct mu_snapshot *snap,
    const struct mu_mimalloc *mi, uintptr_t segment);

/*
 * 3: find, among the words of DATA, the map that has the page whose header is
 * at HEADER, and compare this page with its arena: mi->subproc, mi->map.
 */
bool mu_mi_map_find(struct mu_mimalloc *mi, const struct mu_snapshot *snap,
    struct mu_range data, uintptr_t header);

/* How many bytes of anonymous memory are mapped at ADDRESS. */
size_t mu_mi_mapped(const struct mu_snapshot *snap, uintptr_t address);

/* 2: read the segments and, of each, the headers of its pages. */
enum mu_status mu_mi_segments_read(struct mu_mi_walk *walk);

/* 3: read walk->arenas. */
enum mu_status mu_mi_arenas_read(struct mu_mi_walk *walk);

/* 3: the arena at ADDRESS; or NULL. */
struct mu_mi_arena *mu_mi_arena_at(
    const struct mu_mi_walk *walk, uintptr_t address);

/*
 * 3: true if HEAP, of mi_page_t, 0: the main one, has the bit of a page at
 * SLICE of ARENA.
 */
bool mu_mi_arena_has(const struct mu_snapshot *snap,
    const struct mu_mimalloc *mi, const struct mu_mi_arena *arena,
    uintptr_t heap, size_t slice);

/* 3: compare the pages that the map has with those that heaps have. */
enum mu_status mu_mi_arenas_check(struct mu_mi_walk *walk);

/* 3: read the headers of all pages that the map has. */
enum mu_status mu_mi_map_read(struct mu_mi_walk *walk);

/*
 * Add PAGE, of which the end is not set, in SLICES with room for RESERVED
 * blocks.
 */
enum mu_status mu_mi_page_add(struct mu_mi_walk *walk, struct mu_mi_page *page,
    size_t reserved, struct mu_range slices);

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
