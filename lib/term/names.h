/*
 * Names of addresses that point into modules, for the reports: the seam
 * between them and lib/symbolize/.
 */
#ifndef LIB_TERM_NAMES_H
#define LIB_TERM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/symbolize/symbols.h"
#include "memunreachable/memunreachable.h"

/* FIND: of lib/check/naming.c, in the library mu_frame_names_find(). */
struct mu_names {
	bool (*find)(void *ctx, uintptr_t address, struct mu_symbol *symbol);
	void *ctx;
	bool words; /* also of what a block's contents point to */
};

/* NAMES may have no FIND. False: ADDRESS is in no module, and *SYMBOL all zero.
 */
bool mu_names_find(
    const struct mu_names *names, uintptr_t address, struct mu_symbol *symbol);

/* How many whole words the contents of LEAK show: 4 at most. */
size_t mu_names_words(const struct Leak *leak);

/* The word of the contents at INDEX. */
uintptr_t mu_names_word(const struct Leak *leak, size_t index);

/*
 * What kind of object LEAK is, by its first word that points into a module: in
 * C++ its vtable, in C often a table of functions or the name of its type.
 * False: no word does.
 */
bool mu_names_type(const struct mu_names *names, const struct Leak *leak,
    struct mu_symbol *symbol);

#endif
