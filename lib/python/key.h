/*
 * Keys of dictionaries of CPython as text.
 *
 * Runs in: the command.
 */
#ifndef LIB_PYTHON_KEY_H
#define LIB_PYTHON_KEY_H

#include "heapwalk/subject/snapshot.h"

#define MU_PYTHON_KEY 80 /* bytes, with the end */

/*
 * Write the key at ADDRESS, an object, as repr() would, but for its quotes:
 * "\"alice\"", "7", "(\"a\", 1)". What is long is cut: "\"aaaa...". Returns
 * false if that is not known, as for other objects.
 */
bool mu_python_key_text(const struct mu_snapshot *snap, uintptr_t address,
    char text[MU_PYTHON_KEY]);

/* The same of the name of an attribute, a text, without quotes. */
bool mu_python_attribute_text(const struct mu_snapshot *snap, uintptr_t address,
    char text[MU_PYTHON_KEY]);

#endif
