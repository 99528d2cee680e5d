/*
 * The blocks of all entries of an answer together, each counted once: a block
 * that two owners lead to is in the figures of both (heapwalk/fold/fold.h).
 */
#ifndef HEAPWALK_FOLD_REPORTED_H
#define HEAPWALK_FOLD_REPORTED_H

#include "heapwalk/fold/components.h"
#include "heapwalk/fold/similar.h"

struct mu_reported {
	size_t count, bytes; /* of blocks, usable */

	/* For mu_reported_count(): the hub is counted at last, if it is HUB. */
	bool by_hub, hub;
};

/*
 * Add to REPORTED what the owner COMPONENT leads to, without what was counted
 * for another owner. Before the first one call mu_reported_begin(); the visitor
 * of each component is changed.
 */
void mu_reported_begin(struct mu_components *components);
void mu_reported_add(struct mu_reported *reported,
    struct mu_components *components, uint32_t component);

/* Note that the component OWNER has an entry. */
void mu_reported_note(struct mu_components *components, uint32_t owner);

/*
 * Count the blocks that owners with an entry lead to: those that were noted,
 * and those of GROUPS that are reported. The visitor of each other owner in
 * COMPONENTS is MU_GROUP and its number in GROUPS, or 0; it is changed, and so
 * is that of each counted component. Time: linear in blocks and edges. If the
 * deadline passes the figures are too low.
 */
void mu_reported_count(struct mu_reported *reported,
    struct mu_components *components, const struct mu_group *groups);

#endif
