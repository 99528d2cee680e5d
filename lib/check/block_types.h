/*
 * The types of blocks that a report shows, asked for at once when the answer is
 * there.
 */
#ifndef LIB_CHECK_BLOCK_TYPES_H
#define LIB_CHECK_BLOCK_TYPES_H

#include "lib/symbolize/helper.h"
#include "lib/types/type.h"

/* Zero: none. Close in any case. */
struct mu_block_types {
	struct mu_typed_block *blocks; /* by address after the question */
	size_t count, max;
	struct mu_type *types; /* of each; strings belong to the helper */
};

/*
 * Note that the type of the block of SIZE usable bytes at BEGIN is wanted; HEAD
 * is its first bytes (32, or SIZE if that is less), all zero if they are not
 * known; HELD_AT is the address of a word that leads to it, or 0. Without
 * memory it has no type, as have all after the first 32,768.
 */
void mu_block_types_want(struct mu_block_types *wanted, uintptr_t begin,
    size_t size, const unsigned char *head, uintptr_t held_at);

/* Ask HELPER, whose answers stay valid until its close, until DEADLINE_NS. */
void mu_block_types_ask(struct mu_block_types *wanted,
    struct mu_symbol_helper *helper, uint64_t deadline_ns);

/* The type of the block at BEGIN. Returns false if it is not known. */
bool mu_block_types_find(
    const struct mu_block_types *wanted, uintptr_t begin, struct mu_type *type);

/*
 * The type of the block at BEGIN believed otherwise: its place; NULL: it was
 * not asked for.
 */
struct mu_type *mu_block_types_at(
    const struct mu_block_types *wanted, uintptr_t begin);

/* Free the types. Accepts the zero value. */
void mu_block_types_close(struct mu_block_types *wanted);

#endif
