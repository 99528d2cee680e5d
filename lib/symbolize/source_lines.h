/*
 * A module's source lines by address.
 *
 * libdwfl finds the compilation unit of an address by .debug_aranges only,
 * which clang does not write; here the units' own ranges are sorted once.
 */
#ifndef SYMBOLIZE_SOURCE_LINES_H
#define SYMBOLIZE_SOURCE_LINES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

#include "mu/range.h"

struct mu_unit_range {
	struct mu_range range; /* first of all: mu_ranges_upper() */
	Dwarf_Die *unit;       /* libdwfl's */
};

struct mu_source_lines {
	struct mu_unit_range *ranges; /* by begin */
	size_t count, max;
	Dwarf_Addr bias; /* addresses less those of the debug information */
};

/* Of MODULE. Without debug information it stays empty. */
void mu_source_lines_fill(struct mu_source_lines *lines, Dwfl_Module *module);

/* FILE is libdw's, as is UNIT, which knows of it. False: not known. */
bool mu_source_lines_find(const struct mu_source_lines *lines,
    Dwarf_Addr address, const char **file, unsigned *line, Dwarf_Die **unit);

/* Accepts one that is zero. */
void mu_source_lines_close(struct mu_source_lines *lines);

#endif
