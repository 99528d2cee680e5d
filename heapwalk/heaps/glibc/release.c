/*
 * Select the layout of a release, and compute bins: see
 * heapwalk/heaps/glibc/layout.h.
 */
#include "heapwalk/heaps/glibc/layout.h"

#define TCACHE_SMALL_BINS 64
#define LARGE_SIZE 0x400 /* MIN_LARGE_SIZE */

const struct mu_glibc_layout *
mu_glibc_layout_find(unsigned major, unsigned minor)
{
	size_t count, i;
	const struct mu_glibc_layout *layouts = mu_glibc_layouts(&count);

	for (i = 0; major == 2 && i < count; i++) {
		if (minor >= layouts[i].first && minor <= layouts[i].last)
			return &layouts[i];
	}
	return NULL;
}

const struct mu_glibc_layout *
mu_glibc_layout_nearest(unsigned major, unsigned minor, unsigned *neighbour)
{
	const struct mu_glibc_layout *nearest = NULL, *layouts;
	unsigned release, far, best = 0;
	size_t count, i;

	layouts = mu_glibc_layouts(&count);
	for (i = 0; major == 2 && i < count; i++) {
		release = minor < layouts[i].first ? layouts[i].first
						   : layouts[i].last;
		far = minor < release ? release - minor : minor - release;
		if (nearest != NULL && far >= best)
			continue;
		nearest = &layouts[i];
		*neighbour = release;
		best = far;
	}
	return nearest;
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
