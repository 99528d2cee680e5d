/*
 * What a recorder in the subject knows of blocks (mu/recorded.h), read through
 * the snapshot: where they begin for the program, who allocated them, and
 * which of them the program has freed.
 *
 * The tables are the subject's: every address, count and size in them is
 * checked, and every walk is bounded.
 */
#ifndef HEAPWALK_RECORDED_RECORDED_H
#define HEAPWALK_RECORDED_RECORDED_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/subject/deadline.h"
#include "mu/recorded.h"

/* The words of 32 MiB of addresses. */
struct mu_recorded_span {
	uint64_t index;   /* address >> MU_SHADOW_SPAN_SHIFT */
	const char *view; /* MU_SHADOW_WORDS words of four bytes */
};

/* A module that dlclose() has unloaded. */
struct mu_unloaded {
	struct mu_range range;       /* of its code, as in frames */
	uint64_t offset;             /* of that in the file */
	const char *path, *build_id; /* in hex, or "-" */
};

struct mu_recorder {
	struct mu_recorded about; /* a copy; its addresses are the subject's */
	struct mu_recorded_span *spans; /* by index */
	size_t num_spans;
	const char **depot; /* of each depot block its view, or NULL */
	size_t num_depot;   /* of them that are not NULL */

	/* The memory of all these tables; there are no pointers in it. */
	struct mu_range *tables;
	size_t num_tables;

	/* All modules that it has noted: a copy. */
	struct mu_recorded_module *modules;
	size_t num_modules;

	/* By their ranges, which do not overlap. */
	struct mu_unloaded *unloaded;
	size_t num_unloaded;
};

/* A block of the program's. */
struct mu_recorded_block {
	struct mu_range range; /* as the program knows it, and asked for */
	uint32_t stack;        /* for mu_recorder_stack() */
	bool freed;            /* by the program; the recorder holds it back */
};

/*
 * The one whose struct mu_recorded is at ADDRESS. False: that is none, it has
 * recorded nothing yet, or there is no memory in ARENA. What is needed of the
 * subject's memory has been looked at when it returns.
 */
bool mu_recorder_open(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, uintptr_t address, struct mu_arena *arena);

/*
 * Only recorder->about and what follows from it, recorder->unloaded: for who
 * has stacks already. False: as above.
 */
bool mu_recorder_open_modules(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, uintptr_t address, struct mu_arena *arena);

/* Fills recorder->unloaded by recorder->about. */
void mu_recorder_modules(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, struct mu_arena *arena);

/* What is known of BLOCK, usable bytes of the allocator's; false: nothing. */
bool mu_recorder_find(const struct mu_recorder *recorder, struct mu_range block,
    struct mu_recorded_block *found);

/*
 * The first MAX frames of a stack, innermost first: addresses inside the calls,
 * those in unloaded modules as mu_recorded_frame() makes them. 0: it has none.
 */
size_t mu_recorder_stack(const struct mu_recorder *recorder, uint32_t stack,
    uintptr_t *frames, size_t max);

/*
 * Take the blocks that the program has freed out of BLOCKS, which is sealed.
 * The result is their bytes. Once DEADLINE has passed the rest stays in.
 */
size_t mu_recorder_drop_freed(const struct mu_recorder *recorder,
    struct mu_blocks *blocks, struct mu_deadline *deadline);

#endif
