/*
 * The types of blocks.
 *
 * Found when the answer is there, for blocks that are shown only. A lost block
 * does not change any more, so it is read from the subject, which keeps
 * running.
 *
 * Runs in: the helper that finds names. One thread.
 */
#ifndef LIB_TYPES_TYPES_H
#define LIB_TYPES_TYPES_H

#include "lib/symbolize/symbols.h"
#include "lib/types/type.h"

/*
 * Find the type of BLOCK, for mu_symbol_helper's find_type: *STATE is NULL at
 * first, and ends with the process; SYMBOLS must be the same each time. Returns
 * false if nothing is known of it. Strings are valid until the next call.
 */
bool mu_types_answer(void **state, struct mu_symbols *symbols,
    const struct mu_typed_block *block, struct mu_type *type);

/*
 * What debug information declares about ADDRESS, for mu_symbol_helper's
 * find_declared: the same *STATE. Returns NULL if nothing is known; otherwise
 * the answer is valid until the next call.
 */
const struct mu_declared *mu_types_declared(void **state,
    struct mu_symbols *symbols, enum mu_declared_question question,
    uint64_t address);

#endif
