/*
 * Describe where a reference lies in terms of the program's source: a module's
 * variable, a thread's stack or variable, a region, or a mapping.
 */
#ifndef HEAPWALK_REFER_LOCATE_H
#define HEAPWALK_REFER_LOCATE_H

#include "heapwalk/refer/referrers.h"

struct mu_owner {
	struct mu_range stack; /* all of it, dead part included; or empty */
	/* Variables of modules loaded at start, and struct pthread. */
	struct mu_range tls;
	uintptr_t variables; /* of the main program in there; 0: not known */
};

/* A heap block with the thread-local variables of one module in one thread. */
struct mu_tls_block {
	struct mu_range range;
	size_t thread; /* index */
};

/*
 * Where the thread-local variables of a module, other than the main program,
 * are in one thread.
 */
struct mu_tls_variables {
	uintptr_t module; /* where it begins */
	uintptr_t address;
	size_t thread; /* index */
};

struct mu_owners {
	const struct mu_snapshot *snap;
	struct mu_owner *threads;    /* one for each thread of the snapshot */
	struct mu_tls_block *blocks; /* by address */
	size_t num_blocks, max_blocks;
	struct mu_tls_variables *variables;
	size_t num_variables, max_variables;
};

/* Returns false if memory is exhausted. */
bool mu_owners_find(struct mu_owners *owners, const struct mu_snapshot *snap,
    const struct mu_blocks *blocks, struct mu_arena *arena);

/* The thread whose variables are in the heap block that begins at BEGIN. */
bool mu_owners_tls_block(
    const struct mu_owners *owners, uintptr_t begin, size_t *thread);

/* Fill in the location of ITEM, whose address is set and lies in ROOT. */
void mu_referrer_locate(struct mu_referrer *item, const struct mu_root *root,
    const struct mu_owners *owners);

#endif
