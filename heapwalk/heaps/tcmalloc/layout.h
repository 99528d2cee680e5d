/*
 * The structures of gperftools' tcmalloc 2.9.1 to 2.18.1 on 64 bits, built for
 * release with libstdc++: offsets in bytes, from the headers of its sources.
 * Builds with
 * TCMALLOC_SMALL_BUT_SLOW have other ones, so that they are not found.
 */
#ifndef HEAPWALK_HEAPS_TCMALLOC_LAYOUT_H
#define HEAPWALK_HEAPS_TCMALLOC_LAYOUT_H

#define MU_TC_CLASSES 128        /* kClassSizesMax */
#define MU_TC_ADDRESS_BITS 48    /* kAddressBits */
#define MU_TC_PIECE (128u << 10) /* PageHeapAllocator: kAllocIncrement */

/*
 * SizeMap: class_to_size_, at an odd multiple of 4 since class_array_, of 2169
 * bytes, is before it and num_objects_to_move_, both of 32 bits.
 */
#define MU_TC_SIZES 2684
#define MU_TC_MOVES (MU_TC_SIZES - 4 * MU_TC_CLASSES)
#define MU_TC_PAGES 3200 /* class_to_pages_, of 64 bits */
#define MU_TC_SIZE_MAP (MU_TC_PAGES + 8 * MU_TC_CLASSES)

/* Span */
#define MU_TC_SPAN 48 /* sizeof */
#define MU_TC_SPAN_LENGTH 8
#define MU_TC_SPAN_NEXT 16
#define MU_TC_SPAN_PREV 24
#define MU_TC_SPAN_OBJECTS 32
/* refcount : 16, sizeclass : 8, location : 2, sample : 1 */
#define MU_TC_SPAN_BITS 40

enum mu_tc_location { MU_TC_IN_USE, MU_TC_NORMAL, MU_TC_RETURNED };

/* CentralFreeList; its lock_ is first */
#define MU_TC_CENTRAL 1216 /* from one to the next */
#define MU_TC_CENTRAL_CLASS 8
#define MU_TC_CENTRAL_EMPTY 16
#define MU_TC_CENTRAL_NONEMPTY 64
#define MU_TC_CENTRAL_SPANS 112
#define MU_TC_CENTRAL_COUNTER 120
#define MU_TC_CENTRAL_SLOTS 128
#define MU_TC_CENTRAL_USED 1152 /* 32 bits */
#define MU_TC_SLOTS 64          /* kMaxNumTransferEntries: head, tail */

/*
 * PageHeap, from the root of its PageMap2: the packed cache is before that; its
 * allocator_, two std::set and the lists free_[] of two spans each follow, then
 * Stats.
 */
#define MU_TC_PACKED (8 << 16)
#define MU_TC_SETS 96
#define MU_TC_LISTS(shift) (((size_t)1 << (20 - (shift))) * 2 * MU_TC_SPAN)
#define MU_TC_STATS_SYSTEM 0
#define MU_TC_STATS_FREE 8
#define MU_TC_STATS_RETURNED 16
#define MU_TC_STATS 88 /* sizeof */

/* PageHeapAllocator: free_area_, free_avail_, free_list_, inuse_ (32 bits) */
#define MU_TC_ALLOCATOR_AVAIL 8
#define MU_TC_ALLOCATOR_LIST 16
#define MU_TC_ALLOCATOR_USED 24

/* ThreadCache begins with its FreeLists; prev_ follows next_ */
#define MU_TC_THREAD 4160   /* sizeof */
#define MU_TC_FREE_LIST 32  /* sizeof */
#define MU_TC_FREE_LENGTH 8 /* length_, 32 bits */
#define MU_TC_FREE_SIZE 24  /* size_, 32 bits */
#define MU_TC_NEXT_NEW 4128 /* since 2.16 */
#define MU_TC_NEXT_OLD 4144 /* behind tid_ and in_setspecific_ */

#endif
