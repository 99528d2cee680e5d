/* Sum up components that reach what one other component reaches. */
#ifndef HEAPWALK_FOLD_PATHS_H
#define HEAPWALK_FOLD_PATHS_H

#include "heapwalk/fold/components.h"

/*
 * For each component of COMPONENTS that reaches itself and what one other
 * component reaches, compute the sum and set mu_components.next; the hub has
 * its sum. Each owner that is not complete and has no next gets a slot in
 * COMPONENTS->retained with at most what it reaches; its visitor is 1 + its
 * number if that is everything, and it need not be walked. Uses PENDING and
 * DEFERRED. If the deadline passes, some owners have neither.
 */
void mu_paths_find(struct mu_components *components);

#endif
