/*
 * A module's symbols by address. libdwfl goes through all of them at each
 * question; here they are sorted once.
 */
#ifndef SYMBOLIZE_SYMBOL_TABLE_H
#define SYMBOLIZE_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/range.h"

struct mu_table_symbol {
	struct mu_range range; /* must come first: mu_ranges_upper() */
	uintptr_t reach;       /* highest end of this and all earlier symbols */
	const char *name;      /* libdwfl's */
	char *written;         /* the displayed name; NULL: not made yet */
	unsigned char rank;
	bool sized; /* otherwise it extends to the next one */
};

struct mu_symbol_table {
	struct mu_table_symbol *symbols; /* by begin, the better one later */
	size_t count;
	size_t functions; /* of them; a program without names exports data */
};

/*
 * Read the symbols of MODULE, whose file ends at END. Without symbols TABLE
 * stays empty.
 */
void mu_symbol_table_fill(
    struct mu_symbol_table *table, Dwfl_Module *module, uintptr_t end);

/*
 * The function or variable that contains ADDRESS, demangled, and its RANGE;
 * NULL if none.
 */
const char *mu_symbol_table_find(
    struct mu_symbol_table *table, uintptr_t address, struct mu_range *range);

/* Accepts one that is zero. */
void mu_symbol_table_close(struct mu_symbol_table *table);

#endif
