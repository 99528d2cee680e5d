/*
 * Can a block be of a declared type, by its size and by what lies in it.
 */
#ifndef LIB_EXPLAIN_TYPED_FIT_H
#define LIB_EXPLAIN_TYPED_FIT_H

#include "heapwalk/subject/deadline.h"
#include "lib/explain/typed.h"

/*
 * The number of elements of a row of DECLARED that fills BLOCK bytes; 0: none
 * does, or one does.
 */
size_t mu_typed_row(const struct mu_declared *declared, size_t block);

/*
 * True if an object of DECLARED points to others of it: they are linked, and
 * hardly in a row.
 */
bool mu_typed_is_linked(const struct mu_declared *declared);

/* True if malloc() has rarely a reason to give SIZE bytes for DECLARED. */
bool mu_typed_is_roomy(const struct mu_declared *declared, size_t size);

/*
 * True if a block of SIZE bytes can be one of DECLARED. If others begin with
 * one, a larger block is one of these.
 */
bool mu_typed_fits_one(const struct mu_declared *declared, size_t size);

/*
 * True if BLOCK has a pointer where DECLARED has one, and nothing else there.
 * The pointer that led to it may be what is left of one to an object that was
 * freed: without such a sign nothing tells whether it is.
 */
bool mu_typed_is_confirmed(const struct mu_typed *typed,
    const struct mu_declared *declared, const struct mu_block *block,
    struct mu_deadline *deadline);

/* True if all that BLOCK, a row of pointers, has are pointers to blocks. */
bool mu_typed_has_pointers(const struct mu_typed *typed,
    const struct mu_block *block, struct mu_deadline *deadline);

#endif
