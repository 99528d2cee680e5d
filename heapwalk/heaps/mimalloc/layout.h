/*
 * The structures of mimalloc 2.0.9 to 2.4.1 on 64 bits, built for release and
 * without MI_SECURE >= 3 and MI_PADDING: offsets in bytes, from its internal
 * headers (2.0.9, 2.1.0 to 2.1.9, 2.2.2 to 2.2.7, 2.3.2, 2.4.1). Builds with
 * MI_PADDING or MI_ENCODE_FREELIST, which are those for debugging and with
 * MI_SECURE >= 3, have another mi_heap_t or mi_page_t, so that they are not
 * found.
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
	MU_MI_STARTS_STORED     /* mi_page_t has the address */
};

struct mu_mi_layout {
	/* mi_segment_t; its slices[] are mi_page_t */
	size_t segment_abandoned, segment_used, segment_cookie, segment_slices,
	    segment_info, segment_entries, segment_thread, slices;

	/* mi_page_t */
	size_t page_size; /* sizeof */
	size_t local_free, used, block_size, page_start, thread_free, heap;
	enum mu_mi_starts starts;

	/* mi_heap_t */
	size_t queues, delayed_free, heap_thread, heap_cookie, heap_pages,
	    heap_next;
};

/* Before 2.1.4 used and block_size have 32 bits, later used 16. */
static inline bool
mu_mi_is_narrow(const struct mu_mi_layout *layout)
{
	return layout->starts != MU_MI_STARTS_STORED;
}

/* mi_page_t: the same in all */
#define MU_MI_PAGE_COUNT 0     /* slice_count, 32 bits */
#define MU_MI_PAGE_OFFSET 4    /* slice_offset, 32 bits */
#define MU_MI_PAGE_WORD 8      /* with the two that follow */
#define MU_MI_PAGE_CAPACITY 10 /* 16 bits */
#define MU_MI_PAGE_RESERVED 12 /* 16 bits */
#define MU_MI_PAGE_FREE 16

/* The lower bits of xthread_free: mi_delayed_t. */
#define MU_MI_DELAYED 3

/* mi_heap_t begins with its tld; mi_tld_t: heap_backing, heaps */
#define MU_MI_TLD_BACKING 16
#define MU_MI_TLD_HEAPS 24

/* mi_heap_t, pages[]: mi_page_queue_t: first, last, block_size */
#define MU_MI_QUEUES 75
#define MU_MI_QUEUE_SIZE 24
#define MU_MI_QUEUE_BLOCK 16

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

#endif
