/*
 * What the parts of lib/types/declarations.h share: an answer in the making.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_DECLARING_H
#define LIB_TYPES_DECLARING_H

#include <elfutils/libdw.h>

#include "lib/types/declarations.h"

struct mu_declaring {
	struct mu_declarations *all;
	size_t module; /* index of the loaded file */
	struct mu_debug_index *index;
	Dwarf *dwarf;
	Dwarf_Addr bias;
};

/* The id of the type DIE, the same for all entries of one structure. */
mu_declared_id mu_declaring_id(
    const struct mu_declaring *declaring, Dwarf_Die *die);

/* The entry of ID, which is of this module. */
bool mu_declaring_die(
    const struct mu_declaring *declaring, mu_declared_id id, Dwarf_Die *die);

/*
 * The definition of the structure DIE, if that is only a declaration; DIE
 * itself otherwise, or if there is none.
 */
void mu_declaring_define(const struct mu_declaring *declaring, Dwarf_Die *die);

/* Write the name of the type DIE to the SIZE bytes at NAME; "" if it has none.
 */
void mu_declaring_name(const struct mu_declaring *declaring, Dwarf_Die *die,
    char *name, size_t size);

/* A copy of NAME in the answer; "" if there is no room. */
const char *mu_declaring_keep(
    const struct mu_declaring *declaring, const char *name);

/* A new field of the answer; NULL: there is no room. */
struct mu_declared_field *mu_declaring_field(
    const struct mu_declaring *declaring);

/* lib/types/flatten.c: the answer is the type DIE. */
void mu_declaring_flatten(const struct mu_declaring *declaring, Dwarf_Die *die);

/* lib/types/frame_variables.c: the answer has the variables at PC. */
void mu_declaring_locals(const struct mu_declaring *declaring, Dwarf_Addr pc);

/* A variable of the answer, which is DIE, at OFFSET from FROM. */
void mu_declaring_variable(const struct mu_declaring *declaring, Dwarf_Die *die,
    enum mu_declared_from from, int64_t offset);

#endif
