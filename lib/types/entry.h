/*
 * What one entry of debug information (a DIE) says.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_ENTRY_H
#define LIB_TYPES_ENTRY_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of DIE, without typedefs and qualifiers; false: none, or void. */
bool mu_entry_type(Dwarf_Die *die, Dwarf_Die *type);

/* Bytes of an object of the type DIE; false: not known. */
bool mu_entry_size(Dwarf_Die *die, uint64_t *size);

/* A struct, a class or a union. */
bool mu_entry_is_structure(Dwarf_Die *die);

/* Where a member or a base begins; false: a part of a byte, or unknown. */
bool mu_entry_member(Dwarf_Die *die, uint64_t *offset);

/* True if the structure DIE has types in it. */
bool mu_entry_has_types(Dwarf_Die *die);

enum mu_entry_where {
	MU_ENTRY_ELSEWHERE,
	MU_ENTRY_STATIC, /* at an address of the module */
	MU_ENTRY_THREAD, /* at an offset in the module's thread-local part */
};

/* Where the variable DIE is; *VALUE is the address or the offset. */
enum mu_entry_where mu_entry_location(Dwarf_Die *die, Dwarf_Word *value);

/* A number of DIE: its ATTRIBUTE; 0 if it has none. */
Dwarf_Word mu_entry_number(Dwarf_Die *die, unsigned attribute);

/* True if NAME, of dwarf_diename(), begins with WITH; NULL does not. */
bool mu_entry_name_begins(const char *name, const char *with);

#endif
