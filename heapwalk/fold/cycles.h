/*
 * The first block of each owner that is a cycle.
 */
#ifndef HEAPWALK_FOLD_CYCLES_H
#define HEAPWALK_FOLD_CYCLES_H

#include "heapwalk/fold/components.h"

/*
 * Parents of COMPONENTS are known: make each owner's first block the one with
 * the lowest address of those that all others of the cycle lead to. Blocks that
 * hang on a cycle are in its trees and not in it. MU_ERR_NO_MEMORY.
 */
enum mu_status mu_cycles_settle(
    struct mu_components *components, struct mu_arena *arena);

#endif
