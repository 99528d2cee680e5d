/*
 * List the references to a block: every word that refers to it by the rules of
 * marking, and its location.
 */
#ifndef HEAPWALK_REFER_REFERRERS_H
#define HEAPWALK_REFER_REFERRERS_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/roots/roots.h"

/* The same values as enum MemunreachableReferenceKind. */
enum mu_referrer_kind {
	MU_REFERRER_GLOBAL = 1,
	MU_REFERRER_STACK,
	MU_REFERRER_CALLER,
	MU_REFERRER_REGISTER,
	MU_REFERRER_TLS,
	MU_REFERRER_MAPPING,
	MU_REFERRER_REGION,
	MU_REFERRER_VALUE,
	MU_REFERRER_KERNEL,
	MU_REFERRER_BLOCK,
	MU_REFERRER_KINDS
};

#define MU_NO_INDEX UINT32_MAX

/* Fixed layout: it is sent through the pipe unchanged. */
struct mu_referrer {
	uint32_t kind;      /* enum mu_referrer_kind */
	uint32_t thread;    /* index into the snapshot's; or MU_NO_INDEX */
	uint32_t mapping;   /* the same; a global's: the module's first */
	uint32_t regno;     /* number of a register: mu/arch/register_names.h */
	uint32_t reachable; /* 0: the block that holds it is a leak itself */
	uint32_t unused;
	uint64_t address;     /* of the word; 0 if it is not in memory */
	uint64_t value;       /* the word */
	int64_t into;         /* where it points to, from the target's begin */
	uint64_t base;        /* address that its own offset is relative to */
	uint64_t begin, size; /* of the block, region, or mapping it is in */
};

#define MU_MAX_REFERRERS ((size_t)1 << 16)

struct mu_referrers {
	struct mu_range target;
	bool reachable; /* the target is reachable */
	/* Roots in address order, then values, then blocks. */
	struct mu_referrer *items;
	size_t count; /* at most MU_MAX_REFERRERS */
	size_t total;
	size_t max_items;
};

/*
 * Find all references to the block that holds ADDRESS, after marking.
 * References from the block itself are left out, and so are those in OURS:
 * frames of the library below those of the thread that asked.
 *
 * MU_ERR_ARGUMENT with WHY if ADDRESS is in no live block.
 */
enum mu_status mu_referrers_find(struct mu_referrers *out, uintptr_t address,
    const struct mu_graph *graph, const struct mu_roots *roots,
    const struct mu_snapshot *snap, struct mu_range ours,
    struct mu_arena *arena, uint64_t deadline_ns, struct mu_why *why);

#endif
