/* Sum up components that reach what one other component reaches. */
#ifndef HEAPWALK_FOLD_PATHS_H
#define HEAPWALK_FOLD_PATHS_H

#include "heapwalk/fold/components.h"

/*
 * For each component of COMPONENTS that reaches itself and what one other
 * component reaches, compute the sum and set mu_path.next; the hub has its sum.
 * Each owner that is not complete and has no next gets a slot in
 * COMPONENTS->retained. All get their mu_path.bound. If the deadline passes,
 * some have neither. If there are lists they are completed: private components
 * are left out, and what was searched in depth is added.
 */
void mu_paths_find(struct mu_components *components);

#endif
