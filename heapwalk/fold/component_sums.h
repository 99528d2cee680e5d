/* Count the blocks of each component and their bytes. */
#ifndef HEAPWALK_FOLD_COMPONENT_SUMS_H
#define HEAPWALK_FOLD_COMPONENT_SUMS_H

#include "heapwalk/fold/components.h"

/*
 * Set the sums of each component, and the totals. Parents and first blocks of
 * COMPONENTS are known.
 */
void mu_component_sums(struct mu_components *components);

#endif
