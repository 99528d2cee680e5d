/*
 * Types of live blocks that nothing else names, by what leads to them: parts of
 * containers of C++ (lib/types/containers.h), and of objects of Python.
 */
#ifndef LIB_EXPLAIN_SHAPES_H
#define LIB_EXPLAIN_SHAPES_H

#include "lib/explain/live_types.h"

/*
 * Find containers among the words of HELD and of blocks that are of no declared
 * type, and objects of Python among LIVE's, and add what their parts probably
 * are to LIVE.
 */
void mu_shapes_find(struct mu_live_types *live, struct mu_places *places,
    const struct mu_held *held, struct mu_deadline *deadline);

/*
 * Note in KEPT what mu_shapes_find() has found, which a saved look without
 * contents cannot: it has no numbers.
 */
void mu_shapes_keep(const struct mu_live_types *live,
    const struct mu_places *places, struct mu_kept_names *kept);

#endif
