/*
 * Names of addresses in modules, for the reports, which get them from
 * lib/symbolize/ through this interface.
 *
 * Runs in: original, command.
 */
#ifndef LIB_TERM_NAMES_H
#define LIB_TERM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/symbolize/symbols.h"
#include "lib/types/type.h"
#include "memunreachable/memunreachable.h"

/*
 * Names for addresses: of the command by lib/check/naming.c, of the library by
 * mu_frame_names().
 */
struct mu_names {
	bool (*find)(void *ctx, uintptr_t address, struct mu_symbol *symbol);
	/* The type of the block at BEGIN; NULL: types are not known. */
	bool (*find_type)(void *ctx, uintptr_t begin, struct mu_type *type);
	/* The field through which the block at BEGIN hangs on a group's
	 * example, or on a block before it: "orders"; or NULL. */
	const char *(*find_field)(void *ctx, uintptr_t begin);
	void *ctx;
	bool words; /* name what block contents point to, too */
};

/*
 * NAMES may have no FIND. Returns false, with *SYMBOL all zero, if ADDRESS is
 * in no module.
 */
bool mu_names_find(
    const struct mu_names *names, uintptr_t address, struct mu_symbol *symbol);

/*
 * The type of the block that begins at BEGIN, which an entry begins with.
 * Returns false, with *TYPE all zero, if it is not known.
 */
bool mu_names_find_type(
    const struct mu_names *names, uintptr_t begin, struct mu_type *type);

/*
 * Where LEAK was probably allocated, if no stack was recorded: "parse.c:88".
 * NULL: not known.
 */
const char *mu_names_find_site(
    const struct mu_names *names, const struct Leak *leak);

/* What NAMES' find_field returns; NULL if it has none. */
static inline const char *
mu_names_find_field(const struct mu_names *names, uintptr_t begin)
{
	return names->find_field == NULL ? NULL
					 : names->find_field(names->ctx, begin);
}

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
