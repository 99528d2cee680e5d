/*
 * Offsets and constants of glibc's malloc for each release: the only such
 * table.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_LAYOUT_H
#define HEAPWALK_HEAPS_GLIBC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same in all known releases. */
#define MU_GLIBC_BINS 127    /* NBINS - 1: bin 0 does not exist */
#define MU_GLIBC_FASTBINS 10 /* NFASTBINS, where there are any */
#define MU_GLIBC_HEADER 16   /* bytes of struct malloc_chunk before a block */
#define MU_GLIBC_TAIL 8      /* a block includes the next chunk's prev_size */
#define MU_GLIBC_MINSIZE 32
#define MU_GLIBC_FAST_MAX                                        \
	((MU_GLIBC_FASTBINS + 1) * 16)       /* bytes of a chunk \
					      */
#define MU_GLIBC_LINK_SHIFT 12               /* PROTECT_PTR() shifts by this */
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

	/*
	 * struct malloc_state, whose mutex is at 0; arena_fastbins 0 means none
	 */
	uint16_t arena_flags, arena_fastbins, arena_top, arena_bins;
	uint16_t arena_next, arena_attached, arena_system_mem, arena_size;

	/* heap_info */
	uint16_t heap_header;

	/* struct malloc_par; par_hp_pagesize 0 means none */
	uint16_t par_hp_pagesize, par_n_mmaps, par_mmapped_mem, par_sbrk_base;
	uint16_t par_tcache_bins, par_tcache_max, par_tcache_count, par_size;

	/* struct tcache_perthread_struct: counts, then entries */
	uint16_t tcache_size, tcache_count_size, tcache_bins;

	/*
	 * Mmapped chunks end this many bytes before their mapping, and bit 0 of
	 * their prev_size means "huge pages". Each mremap_chunk() then adds as
	 * much to mmapped_mem and never subtracts it.
	 */
	uint16_t mmapped_tail;

	bool heap_max_huge; /* four huge pages, if the program enabled them */
	bool tcache_counts_free; /* counts are free slots, not entries */
	bool tcache_dummies;     /* a thread without one points to a constant in
				    libc */
	bool tcache_key; /* entries have a key, one for the process; else 0 */
	bool tcache_padded_twice; /* the struct's chunk is sometimes padded
				     twice */
	bool safe_linking; /* next fields are XORed with their address >> 12 */
};

/* All known layouts, by release. */
const struct mu_glibc_layout *mu_glibc_layouts(size_t *count);

/* The layout of release MAJOR.MINOR; NULL if it is not known. */
const struct mu_glibc_layout *mu_glibc_layout_find(
    unsigned major, unsigned minor);

/*
 * The layout of the known release nearest to MAJOR.MINOR, which is not known;
 * NEIGHBOUR receives that release. NULL if there is none.
 */
const struct mu_glibc_layout *mu_glibc_layout_nearest(
    unsigned major, unsigned minor, unsigned *neighbour);

/*
 * The tcache bin for chunks of SIZE bytes; larger than the last bin if there is
 * none.
 */
size_t mu_glibc_tcache_bin(const struct mu_glibc_layout *layout, size_t size);

/* The bin for free chunks of SIZE bytes that are not in the unsorted bin. */
size_t mu_glibc_bin(size_t size);

#endif
