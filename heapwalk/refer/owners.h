/* Find the thread whose stack or thread-local variables are at an address. */
#ifndef HEAPWALK_REFER_OWNERS_H
#define HEAPWALK_REFER_OWNERS_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/subject/snapshot.h"

struct mu_owner {
	struct mu_range stack; /* all of it, dead part included; or empty */
	/* Variables of modules loaded at start, and struct pthread. */
	struct mu_range tls;
};

/* A heap block with the thread-local variables of one module in one thread. */
struct mu_tls_block {
	struct mu_range range;
	size_t thread; /* index */
};

struct mu_owners {
	const struct mu_snapshot *snap;
	struct mu_owner *threads;    /* one for each thread of the snapshot */
	struct mu_tls_block *blocks; /* by address */
	size_t num_blocks, max_blocks;
};

/* Returns false if memory is exhausted. */
bool mu_owners_find(struct mu_owners *owners, const struct mu_snapshot *snap,
    const struct mu_blocks *blocks, struct mu_arena *arena);

/* The thread (an index) whose variables or stack are at ADDRESS. */
bool mu_owners_tls(
    const struct mu_owners *owners, uintptr_t address, size_t *thread);
bool mu_owners_stack(
    const struct mu_owners *owners, uintptr_t address, size_t *thread);

/* The thread whose variables are in the heap block that begins at BEGIN. */
bool mu_owners_tls_block(
    const struct mu_owners *owners, uintptr_t begin, size_t *thread);

#endif
