/*
 * The structures of mimalloc 2.0.9 to 2.4.1 and 3.0.3 to 3.4.3 on 64 bits,
 * built for release and without MI_SECURE >= 3 and MI_PADDING: offsets in
 * bytes, from its internal headers (2.0.9, 2.1.0 to 2.1.9, 2.2.2 to 2.2.7,
 * 2.3.2, 2.4.1; all tags of 3 but 3.0.1 and 3.0.2). Builds with MI_PADDING,
 * MI_ENCODE_FREELIST or MI_GUARDED, which are those for debugging and with
 * MI_SECURE >= 3, have another mi_heap_t or mi_page_t, so that they are not
 * found.
 *
 * 2 has segments of slices, each with the headers of its pages. 3 has arenas of
 * slices, and a map from each slice to the header of its page. Since 3.2 what a
 * thread has of a heap is a mi_theap_t; here that is called a heap, too.
 */
#ifndef HEAPWALK_HEAPS_MIMALLOC_LAYOUT_H
#define HEAPWALK_HEAPS_MIMALLOC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_MI_SEGMENT ((size_t)32 << 20) /* MI_SEGMENT_SIZE, _ALIGN */
#define MU_MI_SLICE ((size_t)64 << 10)   /* MI_SEGMENT_SLICE_SIZE */
#define MU_MI_SLICES (MU_MI_SEGMENT / MU_MI_SLICE)

enum mu_mi_starts {
	MU_MI_STARTS_384,       /* 2.0.9 */
	MU_MI_STARTS_MULTIPLES, /* 2.1.0 to 2.1.2: of the size */
	MU_MI_STARTS_STORED,    /* mi_page_t has the address */
	MU_MI_STARTS_WORDS      /* 3.4: words behind the header, 32 bits */
};

struct mu_mi_layout {
	/* 2: mi_segment_t; its slices[] are mi_page_t */
	size_t segment_abandoned, segment_used, segment_cookie, segment_slices,
	    segment_info, segment_entries, segment_thread, slices;

	/* mi_page_t */
	size_t page_size; /* sizeof */
	size_t local_free, used, block_size, page_start, thread_free, heap;
	enum mu_mi_starts starts;

	/* mi_heap_t; since 3.2 mi_theap_t */
	size_t queues, queue_size, delayed_free, heap_thread, heap_cookie,
	    heap_pages, heap_next;

	/* mi_tld_t; since 3.2 it has no heap_backing */
	size_t tld_backing, tld_heaps;

	/* 3: mi_page_t, mi_subproc_t, mi_arena_t */
	size_t page_memid, tld_subproc, subproc_arenas, subproc_count,
	    arena_slices, arena_meta, arena_pages;
};

/* Before 2.1.4 used and block_size have 32 bits, later used 16. */
static inline bool
mu_mi_is_narrow(const struct mu_mi_layout *layout)
{
	return layout->starts < MU_MI_STARTS_STORED;
}

/* True for mimalloc 3. */
static inline bool
mu_mi_has_arenas(const struct mu_mi_layout *layout)
{
	return layout->page_memid != 0;
}

/* 2: mi_page_t: the same in all */
#define MU_MI_PAGE_COUNT 0     /* slice_count, 32 bits */
#define MU_MI_PAGE_OFFSET 4    /* slice_offset, 32 bits */
#define MU_MI_PAGE_WORD 8      /* with the two that follow */
#define MU_MI_PAGE_CAPACITY 10 /* 16 bits */
#define MU_MI_PAGE_RESERVED 12 /* 16 bits */
#define MU_MI_PAGE_FREE 16

/* The lower bits of xthread_free: mi_delayed_t. */
#define MU_MI_DELAYED 3

/* mi_heap_t begins with its tld; pages[] are mi_page_queue_t */
#define MU_MI_QUEUES 75

/* mi_page_queue_t: first, last, in 3 count, block_size */
static inline size_t
mu_mi_queue_block(const struct mu_mi_layout *layout)
{
	return layout->queue_size - sizeof(uintptr_t);
}

/* MI_HUGE_BLOCK_SIZE: a block of that or more bytes has all of its page. */
#define MU_MI_HUGE ((size_t)2 << 30)

/*
 * _mi_segment_page_start_from_slice(): how far behind its slices a page of
 * blocks of SIZE bytes begins.
 */
static inline size_t
mu_mi_start(enum mu_mi_starts starts, size_t size)
{
	if (size < 8)
		return 0;
	if (starts == MU_MI_STARTS_384)
		return size <= 1024 ? 384 : 0;
	return size <= 64 ? 3 * size : size <= 512 ? size : 0;
}

/* 3: mi_page_t: the same in all. It begins with xthread_id, flags in it. */
#define MU_MI3_PAGE_FREE 8
#define MU_MI3_PAGE_USED 16     /* 16 bits */
#define MU_MI3_PAGE_CAPACITY 18 /* 16 bits */
#define MU_MI3_PAGE_RESERVED 20 /* 16 bits */
#define MU_MI3_PAGE_HEAP 64     /* since 3.2: mi_heap_t, 0: the main one */
#define MU_MI3_FLAGS 3
#define MU_MI3_ABANDONED 4 /* instead of a thread: this, or 0 */

/* mi_memid_t: arena, index and number of slices; or base, bytes; kind */
#define MU_MI3_MEMID_INDEX 8  /* 32 bits */
#define MU_MI3_MEMID_COUNT 12 /* 32 bits */
#define MU_MI3_MEMID_SIZE 8
#define MU_MI3_MEMID_KIND 16 /* 32 bits */
#define MU_MI3_MEMID_BYTES 24
enum { MU_MI3_MEM_OS = 4, MU_MI3_MEM_OS_REMAP = 6, MU_MI3_MEM_ARENA = 7 };

/* mi_arena_t: subproc; since 3.2 arena_idx; its info_slices follow slices */
#define MU_MI3_ARENA_SUBPROC 24
#define MU_MI3_ARENA_INDEX 32
#define MU_MI3_ARENAS 160                    /* MI_MAX_ARENAS */
#define MU_MI3_ARENA_MAX ((size_t)512 * 512) /* MI_BITMAP_MAX_BIT_COUNT */

/* Since 3.2: mi_heap_t begins with its subproc; mi_subproc_t */
#define MU_MI3_HEAP_NEXT 16
#define MU_MI3_HEAP_HEAPS 56 /* theaps; a theap has its heap behind its tld */
#define MU_MI3_HEAP_ARENA_PAGES 752
#define MU_MI3_SUBPROC_MAIN 1360
#define MU_MI3_SUBPROC_HEAPS 1368
#define MU_MI3_HEAPS 65536 /* MI_TLS_IDX_MAX: each has a thread's variable */

/* mi_bitmap_t: its number of chunks of 512 bits, and these */
#define MU_MI3_BITMAP_CHUNKS 128

/* _mi_page_map[]: for 512 MiB each the address of 8192 headers' addresses */
#define MU_MI3_MAP_SHIFT 29
#define MU_MI3_MAP_PART ((size_t)64 << 10)
#define MU_MI3_MAP_MAX ((size_t)4 << 20) /* for addresses of 48 bits */

#endif
