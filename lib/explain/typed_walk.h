/*
 * Types of blocks by what debug information declares: from the variables of the
 * program, its threads and its functions, and from objects whose class is known
 * by their vtable, through the pointers in them to the blocks that these lead
 * to, and so on.
 *
 * A declared type is believed of a block only if its size fits. It is certain
 * only if what led to it is, the block has right pointers where the type has
 * some, no other type of the program that would fit begins alike, and all words
 * that lead to it agree (lib/explain/typed_proof.h).
 */
#ifndef LIB_EXPLAIN_TYPED_WALK_H
#define LIB_EXPLAIN_TYPED_WALK_H

#include "lib/explain/live_types.h"
#include "lib/explain/typed.h"

/*
 * Find the variables that have WORDS, and the types of what they and LIVE's
 * typed blocks lead to, which are added to LIVE. TYPED is zero but for
 * UNPROVEN. What is not found in time is missing. MU_ERR_NO_MEMORY;
 * MU_ERR_TIMEOUT.
 */
enum mu_status mu_typed_walk(struct mu_typed *typed, struct mu_places *places,
    struct mu_live_types *live, const struct mu_held *held,
    struct mu_deadline *deadline);

/*
 * The same from the COUNT BLOCKS, by number, that were found to be of a
 * declared type since: all that they lead to is probable.
 */
enum mu_status mu_typed_walk_on(struct mu_typed *typed,
    struct mu_live_types *live, const uint32_t *blocks, size_t count,
    struct mu_deadline *deadline);

#endif
