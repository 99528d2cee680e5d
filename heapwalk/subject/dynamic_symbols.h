/*
 * Search the dynamic symbols of the subject's modules: which one defines
 * malloc, and which functions of libc they import.
 */
#ifndef HEAPWALK_SUBJECT_DYNAMIC_SYMBOLS_H
#define HEAPWALK_SUBJECT_DYNAMIC_SYMBOLS_H

#include "heapwalk/subject/snapshot.h"

/*
 * True if there may be a malloc other than glibc's. False only if the program
 * is dynamically linked and no module but glibc's own defines malloc, as the
 * dynamic linker would find it. A module that cannot be read may define it.
 */
bool mu_malloc_has_other(const struct mu_snapshot *snap);

/*
 * True if a module other than glibc's own may call NAME, a function of libc.
 * False only if the program is dynamically linked and no readable module
 * imports it. A dlsym() of NAME, or a direct system call, is not detected.
 */
bool mu_may_import(const struct mu_snapshot *snap, const char *name);

/*
 * True if a thread may have set an alternate signal stack: by sigaltstack(), or
 * by syscall(), or by an address from the dynamic linker.
 */
bool mu_may_set_stacks(const struct mu_snapshot *snap);

#endif
