/*
 * The functions of a compilation unit by address. libdw goes through all of
 * the unit at each question; here they are sorted once.
 */
#ifndef SYMBOLIZE_UNIT_FUNCTIONS_H
#define SYMBOLIZE_UNIT_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* For all units asked about. Initialise to zero, except the module. */
struct mu_unit_functions {
	Dwfl_Module *module;
	void *units; /* tsearch()'s */
};

/*
 * Find the function of UNIT that contains ADDRESS, as in the debug information.
 * Returns false if there is none, or no memory. UNIT belongs to libdw and must
 * stay where it is.
 */
bool mu_unit_functions_find(struct mu_unit_functions *functions,
    Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *function);

/*
 * True if the functions of UNIT are known. If not, the line of an address may
 * belong to any function inlined there.
 */
bool mu_unit_functions_known(
    struct mu_unit_functions *functions, Dwarf_Die *unit);

/* Accepts one that is zero. */
void mu_unit_functions_close(struct mu_unit_functions *functions);

#endif
