/*
 * The structures of mallocng on 64 bits: offsets in bytes, from
 * src/malloc/mallocng/meta.h of musl 1.2.1 to 1.2.5, in which they are the
 * same.
 */
#ifndef HEAPWALK_HEAPS_MUSL_LAYOUT_H
#define HEAPWALK_HEAPS_MUSL_LAYOUT_H

#define MU_MUSL_UNIT 16        /* UNIT: sizes of slots, header of a group */
#define MU_MUSL_IN_BAND 4      /* IB: bytes before each block */
#define MU_MUSL_PAGE 4096      /* of maplen, and of areas */
#define MU_MUSL_CLASSES 48     /* in size_classes[] */
#define MU_MUSL_CLASS_ALONE 63 /* sizeclass of a block with its own mapping */

#define MU_MUSL_GROUP_PAGES 512 /* more than a group of several slots has */

/* struct malloc_context */
#define MU_MUSL_SECRET 0
#define MU_MUSL_INIT_DONE 8 /* int; mmap_counter follows, unsigned */
#define MU_MUSL_AREA_HEAD 56
#define MU_MUSL_AREA_TAIL 64
#define MU_MUSL_USAGE 464 /* usage_by_class[], by words */

/* struct meta_area */
#define MU_MUSL_AREA_CHECK 0
#define MU_MUSL_AREA_NEXT 8
#define MU_MUSL_AREA_SLOTS 24 /* as many struct meta as fit in 4 KiB */

/* struct meta */
#define MU_MUSL_META_MEM 16
#define MU_MUSL_META_AVAIL 24 /* 32 bits; freed_mask follows */
#define MU_MUSL_META_BITS 32  /* last_idx:5, freeable:1, sizeclass:6, maplen */
#define MU_MUSL_META 40

#endif
