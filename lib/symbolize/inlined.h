/* Functions without a frame, because the compiler has inlined them. */
#ifndef SYMBOLIZE_INLINED_H
#define SYMBOLIZE_INLINED_H

#include <elfutils/libdw.h>
#include <stddef.h>

#include "lib/symbolize/symbols.h"
#include "lib/symbolize/unit_functions.h"

/*
 * The inlined functions at ADDRESS (as in the debug information) in the
 * compilation UNIT: an array of *COUNT elements, innermost first, freed by
 * mu_inlined_free(). NULL: none, or no memory.
 */
struct mu_inlined *mu_inlined_find(struct mu_unit_functions *functions,
    Dwarf_Die *unit, Dwarf_Addr address, size_t *count);

void mu_inlined_free(struct mu_inlined *list, size_t count);

#endif
