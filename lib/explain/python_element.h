/*
 * Elements of dictionaries and attributes of objects of CPython, on the steps
 * of a path.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_PYTHON_ELEMENT_H
#define LIB_EXPLAIN_PYTHON_ELEMENT_H

#include "lib/explain/explaining.h"

#define MU_PYTHON_ELEMENT 96 /* bytes, with the end */

/*
 * Write what the pointer of STEP, a part of the object BEFORE, is an element
 * of: "[\"alice\"]", "[7]", "[(\"a\", 1)]", ".orders" (lib/python/key.h).
 * Returns false if that is not known.
 */
bool mu_python_element_name(const struct mu_explaining *explaining,
    const struct mu_step *before, const struct mu_step *step,
    char name[MU_PYTHON_ELEMENT]);

/*
 * Write which attribute of the object STEP has its pointer: ".orders". Returns
 * false if that is not known, as for attributes in other memory.
 */
bool mu_python_attribute_name(const struct mu_explaining *explaining,
    const struct mu_step *step, char name[MU_PYTHON_ELEMENT]);

#endif
