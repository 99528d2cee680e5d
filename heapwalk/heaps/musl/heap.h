/*
 * A heap of mallocng while it is read.
 *
 * Blocks of one size are slots of a group, at most 32. Outside of the group a
 * struct meta says which of them are free. All of these lie in areas of 4 KiB,
 * in a list, and each area begins with a random number, the secret of the
 * context (src/malloc/mallocng/meta.h). detect() finds the context by that
 * number (find.c); list() reads the areas and compares what the context counts
 * (groups.c), then the slots of each group (slots.c), and adds what is live to
 * the table of blocks (musl.c).
 *
 * A group is a mapping, or lies in a slot of a larger group, or in what the
 * dynamic linker gave (src/malloc/mallocng/donate.c).
 *
 * Runs in: original (find.c), sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_MUSL_HEAP_H
#define HEAPWALK_HEAPS_MUSL_HEAP_H

#include "heapwalk/heaps/found.h"
#include "heapwalk/heaps/musl/layout.h"

/* What detect() finds. */
struct mu_musl {
	struct mu_heap_found found; /* in libc or the static program */
	uintptr_t context;
};

/* A group of slots. */
struct mu_musl_group {
	struct mu_range range; /* header, which refers to the meta; slots */
	uintptr_t meta;
	bool nested;      /* in a slot of another group */
	bool alone;       /* one block, with a mapping of its own */
	const char *view; /* at range.begin; NULL if nested */
	size_t stride;    /* bytes from one slot to the next */
	unsigned last;    /* index of the last slot */
	uint32_t free;    /* bit i: slot i is not in use */
};

struct mu_musl_walk {
	const struct mu_snapshot *snap;
	struct mu_arena *memory;
	struct mu_why *why;
	const struct mu_heap_member *member;
	uintptr_t context;
	struct mu_heap *heap;
	struct mu_musl_group *groups;
	size_t num_groups, max_groups;

	/*
	 * Slots in use that have no block, or may have none yet. A thread is
	 * about to write or has just wiped what is before it: at most one for
	 * each. They are roots, as a thread may refer to a group for other
	 * reasons: free() does while it waits for the lock.
	 */
	size_t in_transit;
	struct mu_ranges unproven;
	uintptr_t *held; /* metas in registers of threads */
	size_t num_held, max_held;

	size_t num_nested; /* slots in which a group lies */
};

/* A slot in use. */
struct mu_musl_slot {
	struct mu_range block; /* as the program knows it: its own size */
	bool group;            /* a group lies in it, from block.begin on */
	bool blank; /* what is before the block is 0, as it is before the first
		       use, too */
};

/* musl->found.file is NULL if there is none. */
void mu_musl_find(struct mu_musl *musl, const struct mu_snapshot *snap);

/* Read the groups, and the areas, which are added to heap->owned. */
enum mu_status mu_musl_groups_read(struct mu_musl_walk *walk);

/*
 * Read the slot INDEX of GROUP, whose bytes are at VIEW. Returns false if it
 * has no block yet, or no longer.
 */
bool mu_musl_slot_read(const struct mu_musl_group *group, const char *view,
    unsigned index, struct mu_musl_slot *slot);

#endif
