/*
 * Where glibc's malloc keeps what, release by release: the one table.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_GLIBC_LAYOUT_H
#define HEAPWALK_GLIBC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same in every release of the table. */
#define MU_GLIBC_BINS 127    /* NBINS - 1: bin 0 does not exist */
#define MU_GLIBC_FASTBINS 10 /* NFASTBINS */
#define MU_GLIBC_HEADER 16   /* struct malloc_chunk up to the user's bytes */
#define MU_GLIBC_MINSIZE 32
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

	/* struct malloc_state */
	uint16_t arena_flags, arena_fastbins, arena_top, arena_bins;
	uint16_t arena_next, arena_attached, arena_system_mem, arena_size;

	/* heap_info */
	uint16_t heap_header;

	/* struct malloc_par; the hp_pagesize of 0 is "has none" */
	uint16_t par_hp_pagesize, par_n_mmaps, par_mmapped_mem, par_sbrk_base;
	uint16_t par_tcache_bins, par_tcache_max, par_tcache_count, par_size;

	/* struct tcache_perthread_struct: counts, then entries */
	uint16_t tcache_size, tcache_count_size, tcache_bins;
	bool tcache_counts_free; /* counts say how many may still come */

	bool safe_linking; /* next fields are xored with their address >> 12 */
};

/* NULL: a release we know nothing of. */
const struct mu_glibc_layout *mu_glibc_layout_find(
    unsigned major, unsigned minor);

/* In which tcache bin chunks of SIZE bytes are kept; past the last if none. */
size_t mu_glibc_tcache_bin(const struct mu_glibc_layout *layout, size_t size);

/* In which bin free chunks of SIZE bytes are kept, unsorted ones apart. */
size_t mu_glibc_bin(size_t size);

#endif
