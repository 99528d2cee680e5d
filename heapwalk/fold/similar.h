/*
 * Merge owners that were allocated alike: those with the same stack become one
 * entry, before entries are made, as there may be millions of them.
 */
#ifndef HEAPWALK_FOLD_SIMILAR_H
#define HEAPWALK_FOLD_SIMILAR_H

#include "heapwalk/fold/components.h"
#include "heapwalk/fold/leaks.h"
#include "heapwalk/recorded/recorded.h"

/* An owner as its entry tells of it. */
struct mu_owner {
	uint32_t component, lowest;     /* node */
	struct mu_block block;          /* that node; what malloc gave */
	struct mu_recorded_block known; /* as the program has it */
	size_t referenced_count, referenced_size;
	size_t size, bytes; /* of the block; with what it refers to */
};

/* Figures are of all in the group, the first one by address included. */
struct mu_group {
	uint32_t stack;             /* one of those with these frames */
	uint32_t lowest, component; /* of the first one */
	size_t count, size, referenced_count, referenced_size, bytes;
	bool reported; /* its entry is in the answer */
};

struct mu_similar {
	const struct mu_recorder *recorder;
	struct mu_arena *arena;
	struct mu_group *groups;
	uint32_t count;
	uint32_t *slots; /* by the frames: a group's number + 1, or 0 */
	size_t num_slots;
	struct mu_similar_kept *kept; /* which stack was of which group */
};

/* OWNER's block is set: what RECORDER (NULL: none) knows of it. */
void mu_owner_know(struct mu_owner *owner, const struct mu_recorder *recorder);

/* OWNER is COMPONENT, which is one, in the eyes of RECORDER. */
bool mu_owner_read(struct mu_owner *owner,
    const struct mu_components *components, uint32_t component,
    const struct mu_recorder *recorder);

/* The bytes that OWNER begins with. */
static inline const char *
mu_owner_view(const struct mu_owner *owner)
{
	return owner->block.view +
	    (owner->known.range.begin - owner->block.range.begin);
}

/*
 * What an entry for OWNER alone says, but for its contents; its stack as
 * RECORDER or else its heap has it. Frames behind the first 16 are in FRAMES.
 */
void mu_owner_describe(struct mu_leak *leak, const struct mu_owner *owner,
    const struct mu_recorder *recorder, uintptr_t frames[MU_STACK_MAX_FRAMES]);

/* Nothing is allocated yet. */
void mu_similar_open(struct mu_similar *similar,
    const struct mu_recorder *recorder, struct mu_arena *arena);

#define MU_NO_GROUP UINT32_MAX

/*
 * Add OWNER to those of its stack, which are groups[*GROUP]; MU_NO_GROUP: no
 * stack of it is known. False: no memory.
 */
bool mu_similar_add(
    struct mu_similar *similar, const struct mu_owner *owner, uint32_t *group);

/* LEAK, the entry of the group's first owner, becomes that of the group. */
void mu_group_describe(struct mu_leak *leak, const struct mu_group *group);

#endif
