/*
 * The rows of a group: what hangs on its example, block by block, with blocks
 * that are alike in one row.
 *
 * Runs in: sweeper, the command.
 */
#ifndef HEAPWALK_FOLD_HOLDS_H
#define HEAPWALK_FOLD_HOLDS_H

#include "heapwalk/fold/leaks.h"
#include "heapwalk/fold/shape.h"

/*
 * Fill the rows of GROUP, which has none, by SHAPE, that of the example.
 * Overwrites SHAPE's edges.
 */
void mu_holds_fill(struct mu_shape *shape, struct mu_lost_group *group);

#endif
