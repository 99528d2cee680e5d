/*
 * Search the dynamic symbols of the subject's modules: which one defines
 * malloc, and which functions of libc are imported.
 */
#ifndef HEAPWALK_SUBJECT_DYNAMIC_SYMBOLS_H
#define HEAPWALK_SUBJECT_DYNAMIC_SYMBOLS_H

#include "heapwalk/subject/snapshot.h"

/*
 * Is there another malloc than glibc's? False only if SNAP is of a dynamically
 * linked program and no module but glibc's own defines malloc, as the dynamic
 * linker looks it up. A module that cannot be read may define it.
 */
bool mu_malloc_has_other(const struct mu_snapshot *snap);

/*
 * May a module other than glibc's own call NAME, a function of libc? False only
 * if the program is dynamically linked and no module that can be read imports
 * it. What looks NAME up by dlsym(), or makes the system call itself, is not
 * seen.
 */
bool mu_may_import(const struct mu_snapshot *snap, const char *name);

#endif
