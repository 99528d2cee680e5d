/*
 * Names of addresses that point into modules, for the reports: the seam
 * between them and lib/symbolize/.
 */
#ifndef LIB_TERM_NAMES_H
#define LIB_TERM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/symbolize/symbols.h"
#include "memunreachable/memunreachable.h"

struct mu_naming;

/* FIND is mu_naming_find(), or NULL: nothing is named. */
struct mu_names {
	bool (*find)(const struct mu_naming *naming, uintptr_t address,
	    struct mu_symbol *symbol);
	const struct mu_naming *naming;
};

/* False: ADDRESS is in no module, and *SYMBOL all zero. */
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

/* "libfoo.so+0x1234", safe for a terminal. */
void mu_names_address(FILE *out, const struct mu_symbol *symbol);

/* TEXT, safe for a terminal; NULL is empty. */
void mu_names_text(FILE *out, const char *text);

#endif
