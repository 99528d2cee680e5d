/*
 * The types of groups: the best that several of their blocks have, since one
 * block alone may hold too little to be told from others of its size.
 */
#ifndef LIB_CHECK_GROUP_TYPES_H
#define LIB_CHECK_GROUP_TYPES_H

#include "lib/check/block_types.h"
#include "lib/pipe/entries.h"

/* Note that the types of other blocks of the groups in ENTRIES are wanted. */
void mu_group_types_want(
    struct mu_block_types *wanted, const struct mu_entries *entries);

/*
 * After mu_block_types_ask(): give the example of each group the type that is
 * the best for its blocks: the one that it certainly has; then one that others
 * certainly have; then the one that most have, where a block that is "A or B"
 * also has A; then the one of the first block. Where the example has none, half
 * of the blocks must have a guess. It is certain only if it is for each of
 * them.
 */
void mu_group_types_settle(
    struct mu_block_types *types, const struct mu_entries *entries);

#endif
