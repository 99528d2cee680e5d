/*
 * The structures of jemalloc 5.2.1 and 5.3 on x86-64 with pages of 4 KiB and
 * its default options of configure, as Debian 12 builds it: offsets and sizes
 * in bytes, from its internal headers (named below) and the debugging
 * information of builds. --enable-prof changes none of them. What differs
 * between releases is in struct mu_je_release; others differ in arena_t, so
 * that no arena is found.
 */
#ifndef HEAPWALK_HEAPS_JEMALLOC_LAYOUT_H
#define HEAPWALK_HEAPS_JEMALLOC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_JE_PAGE 4096
#define MU_JE_PAGE_BITS 12
#define MU_JE_CACHELINE 64 /* base_alloc() aligns arenas to it */

/*
 * sc: size classes; the first are those of slabs. configure's --with-lg-quantum
 * sets how far apart the smallest are: 16 bytes, or 8 in the copy of redis.
 */
struct mu_je_sizes {
	unsigned quantum;
	unsigned bins, classes;
};
#define MU_JE_CLASSES_MAX 235
#define MU_JE_BINS_MIN 36

/* bin_info: bin_info_t */
#define MU_JE_INFO_SLAB 8
#define MU_JE_INFO_REGIONS 16 /* 32 bits */
#define MU_JE_INFO_SIZE 40

/* jemalloc_internal_types: MALLOCX_ARENA_LIMIT, less one for all bits */
#define MU_JE_ARENAS_MAX 4094

struct mu_je_release {
	/* arena_structs: arena_t */
	size_t internal; /* stats.internal */
	size_t large;    /* stats.lstats[]: nmalloc, ndalloc */
	size_t large_size;
	size_t tcaches; /* tcache_ql, and at + 16 its mutex */
	size_t ind, base, bins;

	/* mutex: malloc_mutex_t */
	size_t lock; /* pthread_mutex_t, which begins with 32 bits: held? */

	/* bin: bin_t, stats.curregs and curslabs; base: base_t, blocks */
	size_t bin_regions, bin_slabs, base_blocks;

	/* tcache_structs: tcache_slow_t; bytes before dyn_alloc and tcache */
	size_t slow, slow_bin; /* in all, and more for each bin of slabs */
	uintptr_t stacks_end;  /* cache_bin: the word behind its stacks */
	unsigned tcache_large; /* large classes that a tcache has at most */

	/*
	 * A large block has all pages of its extent but the padding, if any,
	 * rather than the size of its class (opt.disable_large_size_classes),
	 * and lstats[].active_bytes, the third word, counts these.
	 */
	bool pages;

	/*
	 * 5.2: extent_t, not edata_t; an arena has addresses of its bins, a
	 * base_t the number of its arena; entries of leaves have no state; a
	 * tcache counts what is in its stacks.
	 */
	bool extents;
};
#define MU_JE_MUTEX_SIZE 112
#define MU_JE_TCACHES_MUTEX 16
#define MU_JE_LARGE_BYTES 16

#define MU_JE_BIN_SIZE 224

/* base: base_block_t */
#define MU_JE_BLOCK_UNIT ((size_t)2 << 20) /* HUGEPAGE */

/*
 * rtree: rtree_t, for addresses of 48 bits or, as configure makes it where the
 * CPU has them, of 57: bits of a page's number that each level takes. Its
 * root[] follows its mutex.
 */
struct mu_je_tree {
	unsigned root, node, leaf; /* node: 0 if there is no such level */
	size_t entry;              /* of a leaf */
};

/* edata: edata_t; extent: extent_t */
#define MU_JE_EDATA_SIZE 128
#define MU_JE_EDATA_ADDR 8
#define MU_JE_EDATA_BYTES 16 /* the low 12 bits are something else */
#define MU_JE_EDATA_BITMAP 64
#define MU_JE_REGIONS_MAX 512

/* edata: e_bits, see mu_je_edata_bits(); states of an extent */
#define MU_JE_EDATA_ARENA(bits) ((bits)&0xfff)
#define MU_JE_EDATA_SLAB(bits) ((bits) >> 12 & 1)
#define MU_JE_EDATA_HPA(bits) ((bits) >> 14 & 1)
#define MU_JE_EDATA_STATE(bits) ((bits) >> 17 & 7)
#define MU_JE_EDATA_CLASS(bits) ((bits) >> 20 & 0xff)
#define MU_JE_EDATA_FREE(bits) ((bits) >> 28 & 0x3ff)
#define MU_JE_EDATA_SHARD(bits) ((bits) >> 38 & 0x3f)
#define MU_JE_ACTIVE 0
#define MU_JE_RETAINED 3 /* dirty and muzzy before it; others are changing */

/* rtree: a leaf's entry: one word, or an address and 32 bits */
#define MU_JE_LEAF_EDATA(bits) \
	((uintptr_t)((int64_t)((bits) << 16) >> 16) & ~(uintptr_t)31)
#define MU_JE_LEAF_SLAB(bits) ((bits)&1)
#define MU_JE_LEAF_STATE(bits) ((bits) >> 2 & 7)
#define MU_JE_LEAF_CLASS(bits) ((bits) >> 48 & 0xff)
#define MU_JE_LEAF_CLASS_WIDE(bits) ((bits) >> 5 & 0xff)
#define MU_JE_LEAF_CLASS_EXTENT(bits) ((bits)&0xff)
#define MU_JE_LEAF_SLAB_EXTENT(bits) ((bits) >> 32 & 1)

/* tcache_structs: tcache_slow_t, tcache_t; cache_bin: cache_bin_t */
#define MU_JE_SLOW_DESCRIPTOR_BINS 32
#define MU_JE_SLOW_ARENA 40
#define MU_JE_TCACHE_BINS 8
#define MU_JE_CACHE_SIZE 24
#define MU_JE_CACHE_FULL 18
#define MU_JE_CACHE_EMPTY 20

/* cache_bin: the word before the stacks of a tcache */
#define MU_JE_STACKS_BEGIN 0x7a7a7a7a7a7a7a7aull

/* The bytes of arena_t with the least number of bins. */
static inline size_t
mu_je_arena_size(const struct mu_je_release *release)
{
	return release->extents
	    ? release->base + sizeof(uintptr_t)
	    : release->bins + (size_t)MU_JE_BINS_MIN * MU_JE_BIN_SIZE;
}

/*
 * The first word of an extent as 5.3 has it; that of 5.2 has a bit for dumpable
 * memory, none for guarded one, and two bits for the state.
 */
static inline uint64_t
mu_je_edata_bits(const struct mu_je_release *release, uint64_t bits)
{
	return release->extents
	    ? (bits & 0x3fff) | (bits >> 16 & 3) << 17 | bits >> 18 << 20
	    : bits;
}

/* The offset of dyn_alloc in tcache_slow_t; tcache is the next word. */
static inline size_t
mu_je_slow_stacks(
    const struct mu_je_release *release, const struct mu_je_sizes *sizes)
{
	return (release->slow + sizes->bins * release->slow_bin + 7) &
	    ~(size_t)7;
}

/* tcache_structs: tcache_t of 5.2, and offsets behind its bins_small[] */
#define MU_JE_SMALL 16
#define MU_JE_SMALL_DESCRIPTOR 56 /* bins_small; bins_large */
#define MU_JE_SMALL_ARENA 72
#define MU_JE_SMALL_DIVISORS 84 /* lg_fill_div[], and then bins_large[] */
#define MU_JE_CACHE_COUNT 4     /* ncached, 32 bits */
#define MU_JE_CACHE_AVAIL 16

/* The offset of link, the first behind bins_small[]. */
static inline size_t
mu_je_small_end(const struct mu_je_sizes *sizes)
{
	return MU_JE_SMALL + sizes->bins * (size_t)MU_JE_CACHE_SIZE;
}

/* The offset of bins_large[]. */
static inline size_t
mu_je_bins_large(const struct mu_je_sizes *sizes)
{
	return (mu_je_small_end(sizes) + MU_JE_SMALL_DIVISORS + sizes->bins +
		   7) &
	    ~(size_t)7;
}

/* The bytes of a block of size class INDEX: sc. */
static inline size_t
mu_je_class_size(const struct mu_je_sizes *sizes, unsigned index)
{
	unsigned group;

	if (sizes->quantum == 8 && index < 8)
		return (size_t)8 * (index + 1);
	if (sizes->quantum == 8)
		index -= 3; /* 64 bytes: the eighth, and the fifth */
	if (index == 0)
		return 8;
	if (index <= 4)
		return (size_t)16 * index;
	group = (index - 1) / 4;
	return ((size_t)64 << (group - 1)) +
	    ((size_t)16 << (group - 1)) * ((index - 1) % 4 + 1);
}

#endif
