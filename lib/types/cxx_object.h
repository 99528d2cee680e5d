/*
 * A block of C++ objects that have vtables: one object, an array with or
 * without the count that new[] writes before it, or an object somewhere inside.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_CXX_OBJECT_H
#define LIB_TYPES_CXX_OBJECT_H

#include "lib/types/block_head.h"
#include "lib/types/vtable_cache.h"

/* The longest name; longer ones end in "...". */
#define MU_TYPE_NAME_SIZE 2048

/*
 * Find the type of the block with HEAD; its name goes to NAME. Returns false if
 * none of the first words is a pointer to a vtable.
 */
bool mu_cxx_object_find(struct mu_vtable_cache *cache,
    const struct mu_block_head *head, char name[MU_TYPE_NAME_SIZE],
    struct mu_type *type);

#endif
