/*
 * The layouts of glibc's malloc: see heapwalk/glibc_layout.h.
 *
 * Read in malloc/malloc.c and malloc/arena.c at the tags glibc-2.26 to
 * glibc-2.42, and printed there by a compiler.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_layout.h"

#define TCACHE_SMALL_BINS 64
#define LARGE_SIZE 0x400 /* MIN_LARGE_SIZE */

/* Up to 2.26 the int have_fastchunks is not there yet. */
#define ARENA_2_26                                                     \
	.arena_flags = 4, .arena_fastbins = 8, .arena_top = 88,        \
	.arena_bins = 104, .arena_next = 2152, .arena_attached = 2168, \
	.arena_system_mem = 2176, .arena_size = 2192

#define ARENA_2_27                                                     \
	.arena_flags = 4, .arena_fastbins = 16, .arena_top = 96,       \
	.arena_bins = 112, .arena_next = 2160, .arena_attached = 2176, \
	.arena_system_mem = 2184, .arena_size = 2200

#define PAR_2_26                                                          \
	.heap_header = 32, .par_n_mmaps = 40, .par_mmapped_mem = 56,      \
	.par_sbrk_base = 72, .par_tcache_bins = 80, .par_tcache_max = 88, \
	.par_tcache_count = 96, .par_size = 112

/* thp_pagesize, hp_pagesize and hp_flags; heap_info has a pagesize. */
#define PAR_2_35                                                            \
	.heap_header = 48, .par_n_mmaps = 60, .par_mmapped_mem = 80,        \
	.par_sbrk_base = 96, .par_tcache_bins = 104, .par_tcache_max = 112, \
	.par_tcache_count = 120, .par_size = 136

static const struct mu_glibc_layout layouts[] = {
	{ 26, 26, ARENA_2_26, PAR_2_26, .tcache_size = 0x240,
	    .tcache_count_size = 1, .tcache_bins = 64 },
	{ 27, 29, ARENA_2_27, PAR_2_26, .tcache_size = 0x240,
	    .tcache_count_size = 1, .tcache_bins = 64 },
	/* 2.30: 16 bits a count */
	{ 30, 31, ARENA_2_27, PAR_2_26, .tcache_size = 0x280,
	    .tcache_count_size = 2, .tcache_bins = 64 },
	{ 32, 34, ARENA_2_27, PAR_2_26, .tcache_size = 0x280,
	    .tcache_count_size = 2, .tcache_bins = 64, .safe_linking = true },
	{ 35, 41, ARENA_2_27, PAR_2_35, .par_hp_pagesize = 48,
	    .tcache_size = 0x280, .tcache_count_size = 2, .tcache_bins = 64,
	    .safe_linking = true },
	/* 2.42: heaps are 64 MiB again, whatever the size of huge pages */
	{ 42, 42, ARENA_2_27, PAR_2_35, .tcache_size = 0x2f8,
	    .tcache_count_size = 2, .tcache_bins = 76,
	    .tcache_counts_free = true, .safe_linking = true },
};

const struct mu_glibc_layout *
mu_glibc_layout_find(unsigned major, unsigned minor)
{
	size_t i;

	for (i = 0; major == 2 && i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (minor >= layouts[i].first && minor <= layouts[i].last)
			return &layouts[i];
	}
	return NULL;
}

/* csize2tidx(); 2.42 adds one bin for each power of two up to 4 MiB. */
size_t
mu_glibc_tcache_bin(const struct mu_glibc_layout *layout, size_t size)
{
	size_t bin = (size - MU_GLIBC_MINSIZE) / 16;

	if (bin < TCACHE_SMALL_BINS || layout->tcache_bins == TCACHE_SMALL_BINS)
		return bin;
	/* large_csize2tidx(): bin 64 takes what is below 2 KiB. */
	return TCACHE_SMALL_BINS + 63 - (size_t)__builtin_clzll(size) - 10;
}

/* bin_index() for SIZE_SZ 8. */
size_t
mu_glibc_bin(size_t size)
{
	if (size < LARGE_SIZE)
		return size / 16;
	if (size >> 6 <= 48)
		return 48 + (size >> 6);
	if (size >> 9 <= 20)
		return 91 + (size >> 9);
	if (size >> 12 <= 10)
		return 110 + (size >> 12);
	if (size >> 15 <= 4)
		return 119 + (size >> 15);
	return size >> 18 <= 2 ? 124 + (size >> 18) : 126;
}
