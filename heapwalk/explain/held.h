/*
 * The words outside the blocks that refer to blocks, and where each lies: what
 * the holders of a dominator tree (heapwalk/explain/dominators.h) are made of.
 */
#ifndef HEAPWALK_EXPLAIN_HELD_H
#define HEAPWALK_EXPLAIN_HELD_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/subject/deadline.h"

enum mu_held_kind {
	MU_HELD_GLOBALS, /* the first six as enum mu_root_kind */
	MU_HELD_STACK,
	MU_HELD_CALLER,
	MU_HELD_TLS,
	MU_HELD_ANONYMOUS,
	MU_HELD_REGION,
	MU_HELD_REGISTER,    /* of a thread */
	MU_HELD_VALUE,       /* of the kernel, or that the program ignores */
	MU_HELD_KEPT,        /* a block that is not proven to be one */
	MU_HELD_HEADER,      /* a thread inside malloc has the chunk's header */
	MU_HELD_INTERPRETER, /* no word: only its own links lead there */
};

struct mu_held_word {
	uintptr_t address; /* 0: not in memory; of a register: the index of its
			      value in the snapshot, or num_values: it is
			      the stack pointer */
	uint32_t node;     /* the block that it refers to */
	uint16_t kind;     /* enum mu_held_kind */
	uint16_t thread;   /* of a register: the snapshot's index, at most
			      UINT16_MAX */
};

struct mu_held {
	struct mu_held_word *words; /* by address */
	size_t count, max;
};

/*
 * GRAPH was made of ROOTS and SNAP, which are unchanged. Words are from ARENA.
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 *
 * Runs in: command (any).
 */
enum mu_status mu_held_find(struct mu_held *held, const struct mu_graph *graph,
    const struct mu_roots *roots, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_deadline *deadline);

#endif
