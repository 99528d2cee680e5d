/*
 * Strongly connected components of the unreachable blocks, and the blocks that
 * each leads to.
 *
 * Components are numbered so that edges between them go from higher to lower
 * numbers. A component is private if only one component leads to it and the
 * same is true of everything below it. Private components are added to the one
 * that leads to them; a component that leads to one other component besides is
 * added up from that one (heapwalk/fold/paths.h). So lists, trees and what
 * leads into them are added up in one pass. Of the rest, everything below one
 * component, the hub, is added up once; anything else has to be walked for each
 * owner that may be reported (heapwalk/fold/retained.c).
 */
#ifndef HEAPWALK_FOLD_COMPONENTS_H
#define HEAPWALK_FOLD_COMPONENTS_H

#include "heapwalk/fold/lists.h"
#include "heapwalk/fold/scc.h"
#include "heapwalk/fold/trees.h"

#define MU_NO_PARENT 0x7fffffffu /* no component leads to it: an owner */
#define MU_MANY_PARENT 0x7ffffffeu
#define MU_NO_HUB 0xffffffffu
#define MU_NO_COMPONENT 0xffffffffu
#define MU_PATH_SLOT 0x80000000u

struct mu_component {
	/*
	 * The bytes of the component and the private ones below it; those below
	 * mu_path.next, if it has one, are added to them. If the
	 * component is complete, everything below it is private.
	 */
	size_t bytes;
	uint32_t count;       /* number of blocks */
	uint32_t parent : 31; /* the only one, or one of the values above */
	uint32_t complete : 1;
	/*
	 * For an owner its first block, by address; otherwise a node of one of
	 * its trees. mu_components_after() gives the other trees, unless it is
	 * complete.
	 */
	uint32_t lowest : 31;
	uint32_t below_hub : 1; /* while parents are found: it has many */
	/*
	 * Until mu_components_sum_retained(): the number of edges that lead
	 * here or, for an owner, state of heapwalk/fold/cycles.c. Then: 1 + the
	 * component whose sum it was last added to. At last: whether it is
	 * reported (heapwalk/fold/reported.h).
	 */
	uint32_t visitor;
};

/*
 * What a component reaches at most, in units of bytes (heapwalk/fold/bounds.h),
 * rounded up: itself and what its targets reach, as if these shared nothing.
 */
struct mu_bound {
	uint32_t all;     /* or MU_BOUND_HUB: the hub and OUTSIDE */
	uint32_t outside; /* what is not below the hub */
};

/* What a component leads to (heapwalk/fold/paths.h), unless it is complete and
 * not shared. */
struct mu_path {
	/*
	 * 1 + the component that leads to everything below it that is not
	 * private, if the sum of that one is known. Of an owner otherwise
	 * MU_PATH_SLOT and its index in mu_components.retained. Or 0.
	 */
	uint32_t next;
	struct mu_bound bound;
};

/* Of a path, set when it is compared with another one. */
struct mu_jump {
	uint32_t depth;
	uint32_t to; /* 1 + a component of the path */
};

/* What can be reached from a component that is not complete. */
struct mu_retained {
	size_t bytes; /* too few unless KNOWN, like COUNT */
	uint32_t count : 31;
	uint32_t known : 1;
	uint32_t component;
};

struct mu_components {
	struct mu_trees trees; /* of unreachable nodes: what is searched */
	struct mu_component *all;
	uint32_t num_components;
	uint32_t num_searched; /* each component from here on is one tree */
	uint32_t hub; /* its sum is known, and other components lead below it */
	struct mu_retained hub_sum;
	struct mu_numbers numbers; /* component of each tree */
	uint32_t *next_tree; /* rings; 0: a tree alone; NULL: all are complete
				or alone */

	/* In the same memory, one after the other. */
	union {
		struct mu_jump *jumps; /* while paths are found */
		uint64_t *reach; /* before and after: heapwalk/fold/sources.h */
		uint32_t *deferred; /* at last: heapwalk/fold/reported.h */
	};
	uint64_t *seen;        /* bits, used with REACH */
	struct mu_path *paths; /* one each; NULL: all are complete, or the sums
				  are not known yet */

	struct mu_lists lists;
	bool listed; /* all components but the hub */

	size_t bytes;       /* of all blocks */
	size_t least, most; /* sizes of the first blocks of owners */

	/* Owners that are not complete, by number. */
	struct mu_retained *retained;
	uint32_t num_retained;
	size_t num_owners; /* after mu_components_sum_retained(), of all */

	/*
	 * Room for all components, if some are not complete: that of
	 * lists.trees, if there is such.
	 */
	uint32_t *pending;
	uint32_t num_pending, num_deferred;
	struct mu_deadline *deadline;
};

/* The component of TREE, a number below num_components. */
static inline uint32_t
mu_component_of_tree(const struct mu_components *components, uint32_t tree)
{
	return mu_number(&components->numbers, tree);
}

/* The same of NODE. */
static inline uint32_t
mu_component_of(const struct mu_components *components, uint32_t node)
{
	return mu_component_of_tree(
	    components, mu_tree_of(&components->trees, node));
}

/* True if COMPONENT is added to the one that leads to it. */
static inline bool
mu_component_private(const struct mu_component *component)
{
	return component->complete && component->parent < MU_MANY_PARENT;
}

/* See mu_path.next; MU_NO_COMPONENT if there is none. */
static inline uint32_t
mu_components_next(const struct mu_components *components, uint32_t component)
{
	uint32_t next =
	    components->paths != NULL ? components->paths[component].next : 0;

	return next & MU_PATH_SLOT ? MU_NO_COMPONENT : next - 1;
}

/* No component is visited. */
static inline void
mu_components_unvisit(struct mu_components *components)
{
	uint32_t i;

	for (i = 0; i < components->num_components; i++)
		components->all[i].visitor = 0;
}

/* True if NUMBER is one node, and was counted when it was described. */
static inline bool
mu_components_counted(const struct mu_components *components, uint32_t number)
{
	return components->trees.of == NULL &&
	    number >= components->num_components - components->lists.count;
}

/* The tree after TREE in the ring of component NUMBER. */
static inline uint32_t
mu_components_after(
    const struct mu_components *components, uint32_t number, uint32_t tree)
{
	uint32_t next = 0;

	if (number < components->num_searched && components->next_tree != NULL)
		next = components->next_tree[tree];
	return next != 0 ? next - 1 : tree;
}

/* MU_ERR_NO_MEMORY or MU_ERR_TIMEOUT: no components. */
enum mu_status mu_components_find(struct mu_components *components,
    struct mu_lost *lost, struct mu_arena *arena, struct mu_deadline *deadline);

/*
 * Sum up what can be reached from each owner, where that is linear. Of the
 * other owners count and bytes are too low. MU_ERR_NO_MEMORY.
 */
enum mu_status mu_components_sum_retained(
    struct mu_components *components, struct mu_arena *arena);

/*
 * After that, sum up at least the LIMIT owners that reach most bytes; the sums
 * of others may stay too low, so that these remain the largest. If the deadline
 * passes, those of some owners among them do. MU_ERR_NO_MEMORY.
 */
enum mu_status mu_components_sum_owners(
    struct mu_components *components, size_t limit, struct mu_arena *arena);

/*
 * The sums of what can be reached from COMPONENT, including itself. It must be
 * an owner, the hub, complete, or have or be a mu_path.next.
 */
void mu_components_reach(const struct mu_components *components,
    uint32_t component, size_t *count, size_t *bytes);

#endif
