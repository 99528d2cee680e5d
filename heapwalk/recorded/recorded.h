/*
 * What a recorder in the subject knows about blocks (mu/recorded.h), read
 * through the snapshot: where they begin for the program, what allocated them,
 * and which of them the program has freed.
 *
 * The tables belong to the subject: every address, count and size in them is
 * checked, and every walk is bounded.
 */
#ifndef HEAPWALK_RECORDED_RECORDED_H
#define HEAPWALK_RECORDED_RECORDED_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/recorded/scripts.h"
#include "heapwalk/subject/deadline.h"
#include "mu/recorded.h"

/* The words for 32 MiB of addresses. */
struct mu_recorded_span {
	uint64_t index;   /* address >> MU_SHADOW_SPAN_SHIFT */
	const char *view; /* MU_SHADOW_WORDS words of four bytes */
};

/* A module that dlclose() has unloaded. */
struct mu_unloaded {
	struct mu_range range;       /* addresses of its code */
	uint64_t offset;             /* file offset of the code */
	const char *path, *build_id; /* build-id in hex, or "-" */
};

/* A stack, and a block, of a saved look. */
struct mu_recorded_stack {
	uint32_t id;
	uint32_t num_frames;
	const uintptr_t *frames;
};

struct mu_recorded_item {
	uintptr_t begin, at; /* of the block, and for the program */
	uint64_t size;       /* requested */
	uint32_t stack;
};

struct mu_saved_script {
	uintptr_t frame;
	struct mu_script script;
};

struct mu_recorder {
	struct mu_recorded header; /* a copy; its addresses are the subject's */
	struct mu_recorded_span *spans; /* by index */
	size_t num_spans;
	const char **depot; /* view of each depot block, or NULL */
	size_t num_depot;   /* number of blocks that are not NULL */

	/* The memory of all these tables, and of the header; it holds no
	   pointers. */
	struct mu_range *tables;
	size_t num_tables;

	/* Copy of all modules that it has noted. */
	struct mu_recorded_module *modules;
	size_t num_modules;

	/* By range; they do not overlap. */
	struct mu_unloaded *unloaded;
	size_t num_unloaded;

	/* Of a saved look, by frame. */
	const struct mu_saved_script *scripts;
	size_t num_scripts;

	/* Of a saved look, instead of spans and depot; by id and by begin. */
	const struct mu_recorded_stack *stacks;
	size_t num_stacks;
	const struct mu_recorded_item *items; /* NULL: it is none */
	size_t num_items;
};

/* A block as the program knows it. */
struct mu_recorded_block {
	struct mu_range range; /* address and requested size */
	uint32_t stack;        /* for mu_recorder_stack() */
	bool freed;   /* freed by the program, but held back by the recorder */
	bool ignored; /* not to be reported, nor what it leads to */
};

/*
 * The address of struct mu_recorded in SNAP, found among the variables of
 * programs and libraries; 0: there is no recorder.
 */
uintptr_t mu_recorded_find(const struct mu_snapshot *snap);

/*
 * Open the recorder whose struct mu_recorded is at ADDRESS. Returns false if it
 * is not valid, nothing is recorded yet, or ARENA is exhausted. All tables in
 * the subject's memory are viewed before it returns.
 */
bool mu_recorder_open(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, uintptr_t address, struct mu_arena *arena);

/*
 * Read only what names frames, for a caller that has the stacks already:
 * recorder->header, recorder->unloaded and, with SCRIPTS, the depot. Returns
 * false as above.
 */
bool mu_recorder_open_names(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, uintptr_t address, bool scripts,
    struct mu_arena *arena);

/* Fill recorder->unloaded from recorder->header. */
void mu_recorder_modules(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, struct mu_arena *arena);

/*
 * Find what is recorded for BLOCK, usable bytes of the allocator; false if
 * nothing.
 */
bool mu_recorder_find(const struct mu_recorder *recorder, struct mu_range block,
    struct mu_recorded_block *found);

/*
 * True if STACK says that a block has none because stacks are sampled: it has
 * no word, or one that says so.
 */
bool mu_recorder_unsampled(const struct mu_recorder *recorder, uint32_t stack);

/*
 * Copy the first MAX frames of a stack, innermost first: addresses inside the
 * calls, those in unloaded modules as mu_recorded_frame() makes them. Returns 0
 * if there is no stack.
 */
size_t mu_recorder_stack(const struct mu_recorder *recorder, uint32_t stack,
    uintptr_t *frames, size_t max);

/*
 * What FRAME of a stack is, if it is of an interpreted function; the strings
 * are views of the subject. Returns false if it is none.
 */
bool mu_recorder_script(const struct mu_recorder *recorder, uintptr_t frame,
    struct mu_script *script);

/*
 * Remove the blocks that the program has freed from BLOCKS, which is sealed,
 * and return their bytes. Stops when DEADLINE has passed.
 */
size_t mu_recorder_drop_freed(const struct mu_recorder *recorder,
    struct mu_blocks *blocks, struct mu_deadline *deadline);

/*
 * Add the addresses of the ignored ones of BLOCKS to snap->root_values. Returns
 * false if ARENA is exhausted. Stops when DEADLINE has passed.
 */
bool mu_recorder_keep_ignored(const struct mu_recorder *recorder,
    const struct mu_blocks *blocks, struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_deadline *deadline);

#endif
