/*
 * Merge owners that were allocated by the same stack into one entry. This is
 * done before entries are made, as there may be millions of them.
 */
#ifndef HEAPWALK_FOLD_SIMILAR_H
#define HEAPWALK_FOLD_SIMILAR_H

#include "heapwalk/fold/components.h"
#include "heapwalk/fold/leaks.h"
#include "heapwalk/recorded/recorded.h"

/* Flag in mu_component.visitor of an owner: with the number of its group. */
#define MU_GROUP 0x80000000u

/* An owner as its entry describes it. */
struct mu_owner {
	uint32_t component;    /* MU_NO_COMPONENT: the block is alone */
	uint32_t lowest;       /* node; unless it is alone */
	struct mu_block block; /* that node; what malloc gave */
	struct mu_recorded_block known; /* the same as the program knows it */
	size_t referenced_count, referenced_size;
	size_t size, bytes; /* of the block; with what it refers to */
};

/* Figures include all owners of the group. */
struct mu_group {
	uint32_t stack;  /* one of the stacks with these frames */
	uint32_t lowest; /* node of the first one, by address */
	size_t count, size, referenced_count, referenced_size, bytes;
	bool reported; /* its entry is in the answer */
};

struct mu_similar {
	const struct mu_recorder *recorder;
	struct mu_arena *arena;
	struct mu_group *groups;
	uint32_t count;
	uint32_t *slots; /* by frames: 1 + number of a group, or 0 */
	size_t num_slots;
	struct mu_similar_kept *kept; /* cache: the group of a stack */
};

/* Read what RECORDER (NULL: none) knows about OWNER, whose block is set. */
void mu_owner_read_record(
    struct mu_owner *owner, const struct mu_recorder *recorder);

/*
 * Read COMPONENT as OWNER, with what RECORDER knows. Returns false if it is not
 * an owner.
 */
bool mu_owner_read(struct mu_owner *owner,
    const struct mu_components *components, uint32_t component,
    const struct mu_recorder *recorder);

/* The same for the block with NUMBER, which is alone; nothing is recorded. */
bool mu_owner_read_alone(struct mu_owner *owner,
    const struct mu_components *components, uint32_t number);

/* The first bytes of OWNER. */
static inline const char *
mu_owner_view(const struct mu_owner *owner)
{
	return owner->block.view +
	    (owner->known.range.begin - owner->block.range.begin);
}

/*
 * Copy the stack of OWNER, from RECORDER or else from its heap. Returns the
 * number of frames, 0 if it is not known.
 */
size_t mu_owner_stack(const struct mu_owner *owner,
    const struct mu_recorder *recorder, uintptr_t frames[MU_STACK_MAX_FRAMES]);

/*
 * Fill LEAK for OWNER alone, without contents; the stack is from RECORDER or
 * else from its heap. Frames after the first 16 are in FRAMES.
 */
void mu_owner_describe(struct mu_leak *leak, const struct mu_owner *owner,
    const struct mu_recorder *recorder, uintptr_t frames[MU_STACK_MAX_FRAMES]);

/* Allocates nothing yet. */
void mu_similar_open(struct mu_similar *similar,
    const struct mu_recorder *recorder, struct mu_arena *arena);

#define MU_NO_GROUP UINT32_MAX

/*
 * Add OWNER to the group of its stack, groups[*GROUP]; MU_NO_GROUP if no stack
 * is known. Returns false if memory is exhausted.
 */
bool mu_similar_add(
    struct mu_similar *similar, const struct mu_owner *owner, uint32_t *group);

/* Turn LEAK, the entry of the group's first owner, into that of the group. */
void mu_group_describe(struct mu_leak *leak, const struct mu_group *group);

#endif
