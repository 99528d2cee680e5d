/*
 * Groups of entries that are alike: by the stack that allocated them, by their
 * shape (heapwalk/fold/shape.h), by type, or by module. Each lost block belongs
 * to one group: a block that owners of several groups lead to counts for the
 * first of them.
 */
#ifndef HEAPWALK_FOLD_GROUPS_H
#define HEAPWALK_FOLD_GROUPS_H

#include "heapwalk/fold/components.h"
#include "heapwalk/fold/packed.h"
#include "heapwalk/fold/shape.h"
#include "heapwalk/fold/similar.h"
#include "heapwalk/fold/top_n.h"
#include "heapwalk/recorded/recorded.h"

/* The entries with one key. */
struct mu_grouped {
	uint64_t key;
	uint32_t place; /* of the first one, by address: mu_lost_place() */
	uint32_t rank;  /* 1 + its index in the answer; 0: not in it */
	size_t size;    /* of each; 0: they differ */
	uintptr_t tag;  /* of the first one; 0: none, or they differ */
	bool mixed;     /* their types may differ */
	bool uneven;    /* more hangs on some than on others */
	uintptr_t module_address; /* an address in their module; 0: none */
	size_t count, bytes;
	size_t num_blocks, total_bytes; /* with what hangs on them, usable */
	size_t first_blocks;            /* of the first one alone */
};

struct mu_groups {
	/* Set by the caller; the rest is zero. */
	enum mu_by by;
	struct mu_components *components; /* whose sums are known */
	struct mu_arena *arena;
	/* Called with the size of the first block of a cycle, if it changes. */
	void (*moved)(void *ctx, size_t size);
	void *ctx;

	struct mu_tags tags;
	struct mu_first_words first;
	struct mu_shape shape, wide;
	struct mu_grouped *all;
	size_t count, max;
	uint32_t *slots; /* by key: 1 + index, or 0 */
	size_t num_slots;
	/*
	 * Of each component that is an owner, and then of each block that is
	 * alone: 1 + its group.
	 */
	uint32_t *of;
	struct mu_top_n top;
	struct mu_members *members; /* of each group in the answer */
	struct mu_stack_key *kept;  /* cache: keys of stacks */
	size_t visits;              /* blocks that may still be visited twice */
};

/*
 * Find the groups of all owners, and choose the LIMIT largest. The first block
 * of each owner that is a cycle becomes mu_shape_start(). Returns false if
 * there are no groups, and sets BY to MU_BY_BLOCK: memory is exhausted, or the
 * time is over. SNAP may be NULL: then blocks have no tags.
 */
bool mu_groups_find(
    struct mu_groups *groups, const struct mu_snapshot *snap, size_t limit);

/* The group of OWNER: 1 + its index in the answer, or 0. */
uint32_t mu_groups_rank(
    const struct mu_groups *groups, const struct mu_owner *owner);

/*
 * Fill GROUP, the INDEX-th one in the answer, except for its example, whose
 * first block is at *PLACE (mu_lost_place()).
 */
void mu_groups_describe(struct mu_groups *groups, size_t index,
    struct mu_lost_group *group, uint32_t *place);

#endif
