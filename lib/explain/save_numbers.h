/*
 * Numbers that a saved look needs: how many owners objects have by their own
 * count, and by what objects, classes and tables of CPython are recognised.
 */
#ifndef LIB_EXPLAIN_SAVE_NUMBERS_H
#define LIB_EXPLAIN_SAVE_NUMBERS_H

#include "lib/explain/explaining.h"

/*
 * The COUNT ADDRESSES of such words, in the memory of the tables. Returns false
 * if memory is exhausted.
 */
bool mu_save_numbers_find(struct mu_explaining *explaining,
    const uintptr_t **addresses, size_t *count);

#endif
