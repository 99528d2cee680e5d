/*
 * Which of the declared types are proven.
 *
 * The typed word that leads to a block may be old: the block was freed, and is
 * something else since. Then another word leads to it, that of its owner. So
 * the type of a block is certain only if every word that leads to its begin is
 * declared to point to that type, as far as is known, and if pointers lead to
 * it from a variable, or from an object that says itself what it is, through
 * blocks of which the same is true.
 */
#ifndef LIB_EXPLAIN_TYPED_PROOF_H
#define LIB_EXPLAIN_TYPED_PROOF_H

#include "lib/explain/live_types.h"
#include "lib/explain/typed.h"

/*
 * Note MU_DOUBTED of the blocks whose types in LIVE are not proven. TYPED has
 * followed all words and sorted its variables; HELD are the words outside of
 * blocks.
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT: none of the declared ones may be called
 * certain.
 */
enum mu_status mu_typed_prove(struct mu_typed *typed,
    const struct mu_live_types *live, const struct mu_held *held,
    struct mu_deadline *deadline);

#endif
