/*
 * The functions of a compilation unit by address. libdw goes through all of
 * the unit at each question; here they are sorted once.
 */
#ifndef SYMBOLIZE_UNIT_FUNCTIONS_H
#define SYMBOLIZE_UNIT_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* Of all units that were asked about; zero but for the module at first. */
struct mu_unit_functions {
	Dwfl_Module *module;
	void *units; /* tsearch()'s */
};

/*
 * The function of UNIT that ADDRESS, as the debug information has it, is in.
 * False: none, or no memory. UNIT is libdw's, and stays where it is.
 */
bool mu_unit_functions_find(struct mu_unit_functions *functions,
    Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *function);

/*
 * Is it known which functions UNIT has? If not, the line of an address may be
 * that of any function that was inlined there.
 */
bool mu_unit_functions_known(
    struct mu_unit_functions *functions, Dwarf_Die *unit);

/* Accepts one that is zero. */
void mu_unit_functions_close(struct mu_unit_functions *functions);

#endif
