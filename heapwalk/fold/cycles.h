/* Find the first block of each owner that is a cycle. */
#ifndef HEAPWALK_FOLD_CYCLES_H
#define HEAPWALK_FOLD_CYCLES_H

#include "heapwalk/fold/components.h"

/*
 * Make each owner's first block the one with the lowest address among those
 * that all others of the cycle lead to. Blocks that the cycle leads to are in
 * its trees, but not in the cycle. Parents of COMPONENTS are known.
 * MU_ERR_NO_MEMORY.
 */
enum mu_status mu_cycles_choose_first(
    struct mu_components *components, struct mu_arena *arena);

#endif
