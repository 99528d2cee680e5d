/*
 * Names of addresses in modules, for the reports, which get them from
 * lib/symbolize/ through this interface.
 */
#ifndef LIB_TERM_NAMES_H
#define LIB_TERM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/symbolize/symbols.h"
#include "memunreachable/memunreachable.h"

/* FIND is in lib/check/naming.c; in the library it is mu_frame_names_find(). */
struct mu_names {
	bool (*find)(void *ctx, uintptr_t address, struct mu_symbol *symbol);
	void *ctx;
	bool words; /* name what block contents point to, too */
};

/*
 * NAMES may have no FIND. Returns false, with *SYMBOL all zero, if ADDRESS is
 * in no module.
 */
bool mu_names_find(
    const struct mu_names *names, uintptr_t address, struct mu_symbol *symbol);

/* How many whole words of the contents of LEAK are shown: at most 4. */
size_t mu_names_words(const struct Leak *leak);

/* The word at INDEX of the contents. */
uintptr_t mu_names_word(const struct Leak *leak, size_t index);

/*
 * The kind of object that LEAK is, by its first word that points into a module:
 * in C++ its vtable, in C often a table of functions or a type name. Returns
 * false if there is no such word.
 */
bool mu_names_type(const struct mu_names *names, const struct Leak *leak,
    struct mu_symbol *symbol);

#endif
