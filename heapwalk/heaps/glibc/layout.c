/*
 * Each row was compared with what a compiler makes of malloc/malloc.c and
 * malloc/arena.c at the tag of every release that it is for, glibc-2.26 to
 * glibc-2.42, and at the last commit to malloc/ before 2.43
 * (c9188d333717d3ceb7e3020011651f424f749f93); tests/support/project/layouts.sh
 * does it again.
 */
#include "heapwalk/heaps/glibc/layout.h"

/* Up to 2.26 there is no int have_fastchunks. */
#define ARENA_2_26                                                     \
	.arena_flags = 4, .arena_fastbins = 8, .arena_top = 88,        \
	.arena_bins = 104, .arena_next = 2152, .arena_attached = 2168, \
	.arena_system_mem = 2176, .arena_size = 2192

#define ARENA_2_27                                                     \
	.arena_flags = 4, .arena_fastbins = 16, .arena_top = 96,       \
	.arena_bins = 112, .arena_next = 2160, .arena_attached = 2176, \
	.arena_system_mem = 2184, .arena_size = 2200

/* 2.43 has no fastbins. */
#define ARENA_2_43                                                            \
	.arena_flags = 4, .arena_top = 8, .arena_bins = 24,                   \
	.arena_next = 2072, .arena_attached = 2088, .arena_system_mem = 2096, \
	.arena_size = 2112

#define PAR_2_26                                                          \
	.heap_header = 32, .par_n_mmaps = 40, .par_mmapped_mem = 56,      \
	.par_sbrk_base = 72, .par_tcache_bins = 80, .par_tcache_max = 88, \
	.par_tcache_count = 96, .par_size = 112

/* Adds thp_pagesize, hp_pagesize and hp_flags; heap_info has a pagesize. */
#define PAR_2_35                                                            \
	.heap_header = 48, .par_hp_pagesize = 48, .par_n_mmaps = 60,        \
	.par_mmapped_mem = 80, .par_sbrk_base = 96, .par_tcache_bins = 104, \
	.par_tcache_max = 112, .par_tcache_count = 120, .par_size = 136

/* Adds thp_mode. */
#define PAR_2_43                                                             \
	.heap_header = 48, .par_hp_pagesize = 56, .par_n_mmaps = 68,         \
	.par_mmapped_mem = 88, .par_sbrk_base = 104, .par_tcache_bins = 112, \
	.par_tcache_max = 120, .par_tcache_count = 128, .par_size = 144

/* Size of a count in bytes, number of bins. */
#define TCACHE(count, bins)                           \
	.tcache_size = (count) * (bins) + 8 * (bins), \
	.tcache_count_size = (count), .tcache_bins = (bins)

static const struct mu_glibc_layout layouts[] = {
	{ 26, 26, ARENA_2_26, PAR_2_26, TCACHE(1, 64) },
	{ 27, 29, ARENA_2_27, PAR_2_26, TCACHE(1, 64) },
	{ 30, 31, ARENA_2_27, PAR_2_26, TCACHE(2, 64) },
	{ 32, 34, ARENA_2_27, PAR_2_26, TCACHE(2, 64), .safe_linking = true },
	{ 35, 41, ARENA_2_27, PAR_2_35, TCACHE(2, 64), .safe_linking = true,
	    .heap_max_huge = true },
	{ 42, 42, ARENA_2_27, PAR_2_35, TCACHE(2, 76), .safe_linking = true,
	    .tcache_counts_free = true },
	{ 43, 43, ARENA_2_43, PAR_2_43, TCACHE(2, 76), .safe_linking = true,
	    .tcache_counts_free = true, .tcache_dummies = true,
	    .tcache_key = true, .tcache_padded_twice = true,
	    .mmapped_tail = 16 },
};

const struct mu_glibc_layout *
mu_glibc_layouts(size_t *count)
{
	*count = sizeof(layouts) / sizeof(*layouts);
	return layouts;
}
