/*
 * sys.modules of a program of CPython: where the names of all that it keeps
 * begin.
 *
 * Runs in: the command.
 */
#ifndef LIB_PYTHON_MODULES_H
#define LIB_PYTHON_MODULES_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/subject/deadline.h"
#include "lib/python/contents.h"

/*
 * The variables of CPython itself: the writable memory of its file. Empty: no
 * file of the subject is CPython's.
 */
struct mu_range mu_python_variables(const struct mu_snapshot *snap);

/*
 * Find the dictionary of all modules, to which a word of VARIABLES leads, or
 * one of a block to which such a word leads: the state of an interpreter.
 * False: there is none.
 */
bool mu_python_modules_find(struct mu_python_classes *classes,
    const struct mu_blocks *blocks, struct mu_range variables,
    struct mu_deadline *deadline, struct mu_python_seen *modules);

#endif
