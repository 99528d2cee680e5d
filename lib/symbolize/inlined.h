/*
 * Functions that have no frame of their own, as the compiler has put them into
 * their callers.
 */
#ifndef SYMBOLIZE_INLINED_H
#define SYMBOLIZE_INLINED_H

#include <elfutils/libdw.h>
#include <stddef.h>

#include "lib/symbolize/symbols.h"
#include "lib/symbolize/unit_functions.h"

/*
 * Those that ADDRESS, as the debug information has it, is in, by UNIT, the
 * compilation unit: an array to be freed by mu_inlined_free(), innermost first,
 * of *COUNT. NULL: none, or no memory.
 */
struct mu_inlined *mu_inlined_find(struct mu_unit_functions *functions,
    Dwarf_Die *unit, Dwarf_Addr address, size_t *count);

void mu_inlined_free(struct mu_inlined *list, size_t count);

#endif
