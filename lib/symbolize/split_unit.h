/*
 * Compilation units that are split (DWARF 5, 3.1.2; gcc's -gsplit-dwarf): the
 * program has a skeleton with lines, a .dwo file has the functions. libdw finds
 * that by its name, in the folder of the program or of the compilation.
 */
#ifndef SYMBOLIZE_SPLIT_UNIT_H
#define SYMBOLIZE_SPLIT_UNIT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/*
 * The unit with the functions of UNIT, of MODULE: another one if UNIT is a
 * skeleton. False: they are in a file that cannot be read, or is not regular.
 */
bool mu_split_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Die *full);

#endif
