/*
 * A module's source lines by address.
 *
 * libdwfl finds the compilation unit of an address by .debug_aranges only,
 * which clang does not write; if that has no line, the units' own ranges are
 * sorted, for which all of them are read: of libc 2000, in 20 ms.
 */
#ifndef SYMBOLIZE_SOURCE_LINES_H
#define SYMBOLIZE_SOURCE_LINES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

#include "mu/range.h"

struct mu_unit_range {
	struct mu_range range; /* must come first: mu_ranges_upper() */
	Dwarf_Die *unit;       /* libdwfl's */
};

struct mu_source_lines {
	Dwfl_Module *module;
	bool any;                     /* there are some */
	bool listed;                  /* RANGES are there */
	Dwarf_Addr bias;              /* load bias of the debug information */
	struct mu_unit_range *ranges; /* by begin */
	size_t count, max;
};

/* Without debug information, LINES->any is false. */
void mu_source_lines_open(struct mu_source_lines *lines, Dwfl_Module *module);

/*
 * Find the line of an address. FILE and UNIT belong to libdw. Returns false if
 * it is not known.
 */
bool mu_source_lines_find(struct mu_source_lines *lines, Dwarf_Addr address,
    const char **file, unsigned *line, Dwarf_Die **unit);

/* Accepts one that is zero. */
void mu_source_lines_close(struct mu_source_lines *lines);

#endif
