/*
 * The blocks of each component, and their bytes.
 */
#ifndef HEAPWALK_FOLD_COMPONENT_SUMS_H
#define HEAPWALK_FOLD_COMPONENT_SUMS_H

#include "heapwalk/fold/components.h"

/*
 * Parents and first blocks of COMPONENTS are known: set what is summed up in
 * each of them, and in all.
 */
void mu_component_sums(struct mu_components *components);

#endif
