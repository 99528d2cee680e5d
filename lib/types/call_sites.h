/*
 * Where the program allocates a constant number of bytes: the calls of malloc()
 * and the like in its code, with their operands.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_CALL_SITES_H
#define LIB_TYPES_CALL_SITES_H

#include "lib/symbolize/symbols.h"

struct mu_call_site {
	uint64_t size; /* that is asked for */
	uintptr_t address;
};

/* Initialise to zero. */
struct mu_call_sites {
	bool asked;
	struct mu_call_site *list; /* by size, then address */
	size_t count, max;
	char text[512];
};

/* True if SIZE bytes are asked for somewhere. */
bool mu_call_sites_ask_for(
    struct mu_call_sites *sites, struct mu_symbols *symbols, uint64_t size);

/*
 * Where a block of USABLE bytes was probably allocated: "parse.c:88", if one
 * line of the program alone asks for so many bytes; of a type of SIZE bytes (0:
 * not known) if one line alone asks for these. NULL: there is none, or several.
 * Valid until the next call.
 */
const char *mu_call_sites_find(struct mu_call_sites *sites,
    struct mu_symbols *symbols, size_t usable, uint64_t size);

#endif
