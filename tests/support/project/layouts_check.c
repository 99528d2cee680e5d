/*
 * Compare one release's structs with the table: see layouts.sh, which makes
 * glibc.h from that release's sources.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "heapwalk/heaps/glibc/layout.h"

/* What x86-64 makes of malloc-size.h, libc-lock.h and malloc-hugepages.h. */
#define INTERNAL_SIZE_T size_t
#define SIZE_SZ sizeof(size_t)
#define MALLOC_ALIGNMENT 16
#define MALLOC_ALIGN_MASK (MALLOC_ALIGNMENT - 1)
#define USE_TCACHE 1
#define HAVE_TUNABLES 1 /* not a choice any more since 2.38 */
#define __libc_lock_define(CLASS, NAME) CLASS int NAME
enum malloc_thp_mode_t { malloc_thp_mode_any };

#include "glibc.h"

#ifndef KEY_CLEARED
#define KEY_CLEARED 0
#endif
#if !HAS_FASTBINS
#define NFASTBINS MU_GLIBC_FASTBINS
#endif
#if HAS_SMALL_BINS_LIMIT
#define PAR_TCACHE_BINS offsetof(struct malloc_par, tcache_small_bins)
#else
#define PAR_TCACHE_BINS offsetof(struct malloc_par, tcache_bins)
#endif

static const struct mu_glibc_layout truth = {
	.arena_flags = offsetof(struct malloc_state, flags),
#if HAS_FASTBINS
	.arena_fastbins = offsetof(struct malloc_state, fastbinsY),
#endif
	.arena_top = offsetof(struct malloc_state, top),
	.arena_bins = offsetof(struct malloc_state, bins),
	.arena_next = offsetof(struct malloc_state, next),
	.arena_attached = offsetof(struct malloc_state, attached_threads),
	.arena_system_mem = offsetof(struct malloc_state, system_mem),
	.arena_size = sizeof(struct malloc_state),
	.heap_header = sizeof(heap_info),
	.heap_max_huge = HEAP_MAX_HUGE,
#if HAS_HUGE_PAGES
	.par_hp_pagesize = offsetof(struct malloc_par, hp_pagesize),
#endif
	.par_n_mmaps = offsetof(struct malloc_par, n_mmaps),
	.par_mmapped_mem = offsetof(struct malloc_par, mmapped_mem),
	.par_sbrk_base = offsetof(struct malloc_par, sbrk_base),
	.par_tcache_bins = PAR_TCACHE_BINS,
	.par_tcache_max = offsetof(struct malloc_par, tcache_max_bytes),
	.par_tcache_count = offsetof(struct malloc_par, tcache_count),
	.par_size = sizeof(struct malloc_par),
	.tcache_size = sizeof(tcache_perthread_struct),
	.tcache_count_size =
	    offsetof(tcache_perthread_struct, entries) / TCACHE_MAX_BINS,
	.tcache_bins = TCACHE_MAX_BINS,
	.tcache_counts_free = COUNTS_FREE,
	.tcache_dummies = HAS_DUMMIES,
	.tcache_key = KEY_CLEARED,
	.tcache_padded_twice = PADDED_TWICE,
	.safe_linking = SAFE_LINKING,
	.mmapped_tail = MMAPPED_TAIL ? 2 * SIZE_SZ : 0,
};

static const char *revision;
static int bad;

static void
same(const char *what, size_t table, size_t source)
{
	if (table == source)
		return;
	printf("%s: %s is %zu, the table says %zu\n", revision, what, source,
	    table);
	bad = 1;
}

#define SAME(member) same(#member, row->member, truth.member)

static void
compare_row(const struct mu_glibc_layout *row)
{
	SAME(arena_flags);
	SAME(arena_fastbins);
	SAME(arena_top);
	SAME(arena_bins);
	SAME(arena_next);
	SAME(arena_attached);
	SAME(arena_system_mem);
	SAME(arena_size);
	SAME(heap_header);
	SAME(heap_max_huge);
	SAME(par_hp_pagesize);
	SAME(par_n_mmaps);
	SAME(par_mmapped_mem);
	SAME(par_sbrk_base);
	SAME(par_tcache_bins);
	SAME(par_tcache_max);
	SAME(par_tcache_count);
	SAME(par_size);
	SAME(tcache_size);
	SAME(tcache_count_size);
	SAME(tcache_bins);
	SAME(tcache_counts_free);
	SAME(tcache_dummies);
	SAME(tcache_key);
	SAME(tcache_padded_twice);
	SAME(safe_linking);
	SAME(mmapped_tail);
}

/* What the library holds to be the same everywhere. */
static void
compare_rest(void)
{
	same("mutex", 0, offsetof(struct malloc_state, mutex));
	same("number of bin pointers", 2 * MU_GLIBC_BINS,
	    sizeof(((struct malloc_state *)0)->bins) / sizeof(void *));
	same("NFASTBINS", MU_GLIBC_FASTBINS, NFASTBINS);
	same("header", MU_GLIBC_HEADER, offsetof(struct malloc_chunk, fd));
	same("MINSIZE", MU_GLIBC_MINSIZE, MINSIZE);
	same("PREV_INUSE", MU_PREV_INUSE, PREV_INUSE);
	same("IS_MMAPPED", MU_IS_MMAPPED, IS_MMAPPED);
	same("NON_MAIN_ARENA", MU_NON_MAIN_ARENA, NON_MAIN_ARENA);
	same("NONCONTIGUOUS_BIT", MU_GLIBC_NONCONTIGUOUS, NONCONTIGUOUS_BIT);
	same("heap_info.prev", 8, offsetof(heap_info, prev));
	same("heap_info.size", 16, offsetof(heap_info, size));
	same("arena_test", 24, offsetof(struct malloc_par, arena_test));
	same("arena_max", 32, offsetof(struct malloc_par, arena_max));
	same("n_mmaps_max", truth.par_n_mmaps + 4,
	    offsetof(struct malloc_par, n_mmaps_max));
	same("max_n_mmaps", truth.par_n_mmaps + 8,
	    offsetof(struct malloc_par, max_n_mmaps));
	same("no_dyn_threshold", truth.par_n_mmaps + 12,
	    offsetof(struct malloc_par, no_dyn_threshold));
	same("max_mmapped_mem", truth.par_mmapped_mem + 8,
	    offsetof(struct malloc_par, max_mmapped_mem));
#if HAS_HUGE_PAGES
	same("thp_pagesize", truth.par_hp_pagesize - 8,
	    offsetof(struct malloc_par, thp_pagesize));
#endif
	same("tcache_entry.next", 0, offsetof(tcache_entry, next));
}

static size_t
tcache_index(size_t size)
{
#if HAS_LARGE_TCACHE
	if (csize2tidx(size) >= TCACHE_SMALL_BINS)
		return large_csize2tidx(size);
#endif
	return csize2tidx(size);
}

static void
compare_sizes(const struct mu_glibc_layout *row)
{
	size_t size;

	for (size = MU_GLIBC_MINSIZE; bad == 0 && size < (size_t)8 << 20;
	     size += 16) {
		same("bin_index", mu_glibc_bin(size), bin_index(size));
		if (tcache_index(size) < row->tcache_bins ||
		    mu_glibc_tcache_bin(row, size) < row->tcache_bins)
			same("tcache bin", mu_glibc_tcache_bin(row, size),
			    tcache_index(size));
	}
}

int
main(int argc, char **argv)
{
	unsigned major = argc > 2 ? (unsigned)atoi(argv[2]) : 0, neighbour = 0;
	unsigned minor = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	const struct mu_glibc_layout *row = mu_glibc_layout_find(major, minor);
	const char *known = "";

	revision = argc > 1 ? argv[1] : "?";
	if (row == NULL) {
		row = mu_glibc_layout_nearest(major, minor, &neighbour);
		known = ", which is not in the table";
	}
	if (row == NULL)
		return 1;
	compare_row(row);
	compare_rest();
	compare_sizes(row);
	if (bad == 0)
		printf("%s: release %u.%u%s: as in the row 2.%u to 2.%u\n",
		    revision, major, minor, known, row->first, row->last);
	return bad;
}
