/*
 * The module that an address is in, with its unwind tables.
 *
 * Runs in: the original, any thread.
 */
#ifndef UNWIND_MODULE_H
#define UNWIND_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/unwind_table.h"

/* Before main(), when dlsym() can be called. */
void unwind_module_init(void);

/* False: none, or none with tables. */
bool unwind_module_find(struct unwind_module *module, uintptr_t pc);

/*
 * Has been seen before, as it is; the first time it is noted. False: it is
 * new where another one was, or where none was.
 */
bool unwind_module_known(const struct unwind_module *module);

/* That there is no module at an address has been relied upon. */
void unwind_module_none(void);

#endif
