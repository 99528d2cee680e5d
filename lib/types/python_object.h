/*
 * Objects of CPython 3, which refer to their type; a type is an object, too,
 * whose type is "type", as that of "type" itself is.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_PYTHON_OBJECT_H
#define LIB_TYPES_PYTHON_OBJECT_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

#define MU_PYTHON_NAME 256 /* bytes, with the end */
#define MU_PYTHON_PART_OF "part of a "

/* True if NAME is one or several identifiers with dots between them. Pure. */
bool mu_python_is_name(const char *name);

/*
 * Find the type of the block with HEAD; its name goes to NAME. Returns false if
 * it is none.
 */
bool mu_python_object_find(struct mu_symbols *symbols,
    const struct mu_block_head *head, char name[MU_PYTHON_NAME],
    struct mu_type *type);

/* True if the subject is a program of CPython 3, or has its library. */
bool mu_python_is_there(const struct mu_symbols *symbols);

/*
 * Find the object that has the word at AT: a block to which that leads and that
 * is no object is a part of it, such as the items of a list. The name is "part
 * of a list". Returns false if there is none.
 */
bool mu_python_part_find(struct mu_symbols *symbols, uintptr_t at,
    char name[MU_PYTHON_NAME], struct mu_type *type);

#endif
