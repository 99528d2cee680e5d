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

/* True if files are mapped, and no dynamic linker (/lib/ld-2.31.so, ...). */
bool mu_program_is_static(const struct mu_snapshot *snap);

/*
 * True if the program may call sigaltstack(): a module other than libc's own
 * imports it or cannot be read, or a static program has the code of that system
 * call. A dlsym(), or a system call by syscall(), is not detected.
 */
bool mu_may_call_sigaltstack(const struct mu_snapshot *snap);

/* The same, or syscall(), or the dynamic linker's search for a function. */
bool mu_may_set_stacks(const struct mu_snapshot *snap);

#endif
