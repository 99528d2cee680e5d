/*
 * Paths of components: what is below one is known from one other.
 */
#ifndef HEAPWALK_FOLD_PATHS_H
#define HEAPWALK_FOLD_PATHS_H

#include "heapwalk/fold/components.h"

/*
 * Add up each component of COMPONENTS whose reach is that of one other, and
 * itself, and set its mu_components.next; the hub has its sum. Of each owner
 * that is not complete and has none there is a slot in COMPONENTS->retained
 * then, with at most what it reaches; its visitor is 1 + its number if it is
 * all, and it need not be walked. PENDING and DEFERRED are used. If the
 * deadline passes, some have neither.
 */
void mu_paths_find(struct mu_components *components);

#endif
