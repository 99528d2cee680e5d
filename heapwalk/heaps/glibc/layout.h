/*
 * Where glibc's malloc keeps what, release by release: the one table.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_LAYOUT_H
#define HEAPWALK_HEAPS_GLIBC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same in every release of the table. */
#define MU_GLIBC_BINS 127    /* NBINS - 1: bin 0 does not exist */
#define MU_GLIBC_FASTBINS 10 /* NFASTBINS, where there are any */
#define MU_GLIBC_HEADER 16   /* struct malloc_chunk up to the user's bytes */
#define MU_GLIBC_TAIL 8 /* of the next header: a block ends before its size */
#define MU_GLIBC_MINSIZE 32
#define MU_GLIBC_FAST_MAX                                        \
	((MU_GLIBC_FASTBINS + 1) * 16)       /* bytes of a chunk \
					      */
#define MU_GLIBC_LINK_SHIFT 12               /* of PROTECT_PTR() */
#define MU_GLIBC_HEAP_MAX ((size_t)64 << 20) /* HEAP_MAX_SIZE */

/* Flags in a chunk's size word. */
#define MU_PREV_INUSE 1
#define MU_IS_MMAPPED 2
#define MU_NON_MAIN_ARENA 4
#define MU_SIZE_FLAGS 7

/* NONCONTIGUOUS_BIT of malloc_state.flags. */
#define MU_GLIBC_NONCONTIGUOUS 2

/* Offsets and sizes in bytes, LP64. */
struct mu_glibc_layout {
	unsigned first, last; /* releases: 2.first to 2.last */

	/* struct malloc_state, its mutex at 0; fastbins at 0: has none */
	uint16_t arena_flags, arena_fastbins, arena_top, arena_bins;
	uint16_t arena_next, arena_attached, arena_system_mem, arena_size;

	/* heap_info */
	uint16_t heap_header;

	/* struct malloc_par; hp_pagesize at 0: has none */
	uint16_t par_hp_pagesize, par_n_mmaps, par_mmapped_mem, par_sbrk_base;
	uint16_t par_tcache_bins, par_tcache_max, par_tcache_count, par_size;

	/* struct tcache_perthread_struct: counts, then entries */
	uint16_t tcache_size, tcache_count_size, tcache_bins;

	/*
	 * Mmapped chunks end that much before their mapping, and bit 0 of
	 * their prev_size says "huge pages". mremap_chunk() then adds as much
	 * to mmapped_mem each time, and never takes it off.
	 */
	uint16_t mmapped_tail;

	bool heap_max_huge; /* four huge pages, if the program asked for them */
	bool tcache_counts_free;  /* counts say how many may still come */
	bool tcache_dummies;      /* who has none has a constant of libc's */
	bool tcache_key;          /* of entries: one for the process, else 0 */
	bool tcache_padded_twice; /* the struct's chunk, now and then */
	bool safe_linking; /* next fields are xored with their address >> 12 */
};

/* All that are known, by release. */
const struct mu_glibc_layout *mu_glibc_layouts(size_t *count);

/* Of release MAJOR.MINOR; NULL: we know nothing of it. */
const struct mu_glibc_layout *mu_glibc_layout_find(
    unsigned major, unsigned minor);

/*
 * Of the known release that is nearest to MAJOR.MINOR, which is not known; it
 * is put into NEIGHBOUR. NULL: there is none.
 */
const struct mu_glibc_layout *mu_glibc_layout_nearest(
    unsigned major, unsigned minor, unsigned *neighbour);

/* In which tcache bin chunks of SIZE bytes are kept; past the last if none. */
size_t mu_glibc_tcache_bin(const struct mu_glibc_layout *layout, size_t size);

/* In which bin free chunks of SIZE bytes are kept, unsorted ones apart. */
size_t mu_glibc_bin(size_t size);

#endif
