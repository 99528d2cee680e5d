/*
 * A heap of jemalloc while it is read: what was found, and the extents.
 *
 * detect() finds the arenas (find.c) and the radix tree (tree.c); list() reads
 * the extents from the tree (extents.c), takes from them what tcaches hold
 * (tcaches.c) and threads (tsds.c), compares what remains with jemalloc's own
 * counters (counts.c) and adds it to the table of blocks (jemalloc.c).
 *
 * Runs in: the command (any).
 */
#ifndef HEAPWALK_HEAPS_JEMALLOC_HEAP_H
#define HEAPWALK_HEAPS_JEMALLOC_HEAP_H

#include "heapwalk/heaps/found.h"
#include "heapwalk/heaps/jemalloc/layout.h"
#include "heapwalk/subject/each_word.h"

/* What detect() finds. */
struct mu_jemalloc {
	struct mu_heap_found found;
	uintptr_t arenas;  /* arenas[] */
	size_t num_arenas; /* up to the last one in use */
	uintptr_t root;    /* of the tree of extents */
	uintptr_t tsd;     /* any of the ring of tsd_t; 0: none */
	const struct mu_je_release *release;
	const struct mu_je_tree *tree;
	const struct mu_je_sizes *sizes;
};

/* Memory that an arena has from the kernel, in use or free. */
struct mu_je_extent {
	struct mu_range range; /* whole pages */
	uintptr_t begin;       /* of its block; of a slab range.begin */
	size_t size;           /* of each block */
	unsigned arena;
	unsigned char index; /* size class */
	bool active, slab;
	uint16_t regions; /* of a slab, else 1 */

	/* Bit i: region i of a slab, or the block, is the program's. */
	uint64_t live[MU_JE_REGIONS_MAX / 64];
};

struct mu_je_walk {
	const struct mu_snapshot *snap;
	struct mu_arena *memory;
	struct mu_why *why;
	struct mu_jemalloc je;
	uintptr_t *arenas;      /* addresses; 0: none with this number */
	struct mu_ranges bases; /* its own tables: base_block_t */
	size_t nodes;           /* of the tree, as many as fit into these */
	struct mu_je_extent *extents; /* by address */
	size_t num_extents, max_extents;
	unsigned paddings;  /* bit i: large blocks may have i pages more */
	const char *option; /* of jemalloc, with which it cannot be read */
	size_t internal;    /* bytes of blocks that are jemalloc's own */
};

/*
 * Find jemalloc in the variables of programs and libraries. found->found.file
 * is NULL if it is not there, or not the release whose structures are known.
 * MU_ERR_HEAP_INCONSISTENT: it is being changed. MU_ERR_FOREIGN_ALLOCATOR: it
 * is there twice.
 */
enum mu_status mu_je_find(struct mu_jemalloc *found,
    const struct mu_snapshot *snap, struct mu_why *why);

/* Find the tree of extents in DATA; found->root remains 0 if there is none. */
void mu_je_tree_find(struct mu_jemalloc *found, const struct mu_snapshot *snap,
    struct mu_range data, uintptr_t arena);

/* Of 5.2: find a tsd_t by DATA. */
void mu_je_tsd_find(struct mu_jemalloc *found, const struct mu_snapshot *snap,
    struct mu_range data);

/* True if an arena of RELEASE with number INDEX is at ADDRESS. */
bool mu_je_is_arena(const struct mu_snapshot *snap,
    const struct mu_je_release *release, uintptr_t address, size_t index);

/* MU_ERR_HEAP_INCONSISTENT if a thread may be in the middle of a change. */
enum mu_status mu_je_inside(const struct mu_je_walk *walk);

/* Read walk->arenas and walk->bases; then every extent, by address. */
enum mu_status mu_je_arenas_read(struct mu_je_walk *walk);
enum mu_status mu_je_extents_read(struct mu_je_walk *walk);

/*
 * The entry of a leaf at VIEW is that of PAGE; they come by address. When all
 * have come, the sizes of large blocks are known.
 */
enum mu_status mu_je_page_take(
    struct mu_je_walk *walk, const char *view, uintptr_t page);
void mu_je_large_size(struct mu_je_walk *walk);

/* Take from the extents what tcaches hold, and the memory of these. */
enum mu_status mu_je_tcaches_take(struct mu_je_walk *walk);

/* Of 5.2: take what tsd_t lead to. What is missing is missed by the sum. */
void mu_je_tsds_take(struct mu_je_walk *walk);

/* Compare extents with the counters: before and after tcaches are taken. */
enum mu_status mu_je_counts_check(const struct mu_je_walk *walk);
enum mu_status mu_je_internal_check(const struct mu_je_walk *walk);

/* Where the live block begins that has ADDRESS; 0: there is none. */
uintptr_t mu_je_begin(const struct mu_je_walk *walk, uintptr_t address);

/*
 * Turn the live block at ADDRESS, of size class INDEX or, if that is
 * MU_JE_CLASSES_MAX, any, into a free one. Returns its extent; NULL if no live
 * block begins there.
 */
const struct mu_je_extent *mu_je_take(
    struct mu_je_walk *walk, uintptr_t address, unsigned index);

#endif
