/*
 * Find the module of an address, with its unwind tables.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_MODULE_H
#define LIB_MALLOC_DEBUG_UNWIND_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/unwind/table.h"

/* Before main(), when dlsym() can be called. */
void unwind_module_init(void);

/* False: no module, or one without tables. */
bool unwind_module_find(struct unwind_module *module, uintptr_t pc);

/*
 * True if this module has been seen before unchanged. Otherwise it is noted: it
 * is new at an address where another module was, or where none was.
 */
bool unwind_module_known(const struct unwind_module *module);

/* Note that the walk relied on the absence of a module at an address. */
void unwind_module_none(void);

#endif
