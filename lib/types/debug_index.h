/*
 * An index of one module's debug information: its structures by name and by
 * place, its variables by address.
 *
 * It has each structure once, although every unit repeats those of the headers
 * that it includes.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_DEBUG_INDEX_H
#define LIB_TYPES_DEBUG_INDEX_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_INDEX_SCOPES 64 /* that are remembered */

struct mu_indexed_type {
	uint64_t hash;   /* of the whole name, without blanks */
	uint64_t own;    /* of the name without namespaces */
	Dwarf_Off place; /* of its entry */
	uint64_t size;
	uint64_t first;  /* hash of the type of its first member; 0: none */
	uint32_t around; /* text: the namespaces: "shop"; "" */
	uint32_t name;   /* text; of a structure without one: of its typedef */
	uint64_t alike;  /* 1: others of its size begin with such a member */
};

/* The entries of one type. */
struct mu_indexed_place {
	Dwarf_Off place;
	uint64_t type; /* its index */
};

struct mu_indexed_variable {
	uint64_t address; /* as in the file; of a thread-local one its offset */
	Dwarf_Off place;
};

struct mu_indexed_variables {
	struct mu_indexed_variable *list; /* by address */
	size_t count, max;
};

/* Code of one unit. */
struct mu_indexed_code {
	Dwarf_Addr begin, end; /* as in the file */
	Dwarf_Off place;       /* of the unit's entry */
};

struct mu_debug_index {
	bool asked;  /* it was made */
	bool failed; /* it is not complete */
	bool late;   /* because there was no time */
	bool deep;   /* variables of functions are there, too */
	uint64_t deadline_ns;
	unsigned seen;

	struct mu_indexed_type *types;
	size_t num_types, max_types;
	uint32_t *slots; /* by hash: 1 + index; a power of 2 */
	size_t num_slots;
	struct mu_indexed_place *places; /* by place */
	size_t num_places, max_places;

	/* Hashes of names of types with which others begin; sorted. */
	uint64_t *beginnings;
	size_t num_beginnings, max_beginnings;

	struct mu_indexed_variables variables, thread;

	struct mu_indexed_code *code; /* by address */
	size_t num_code, max_code;

	/* Texts, which end with a zero; the first one is empty. */
	char *texts;
	size_t num_texts, max_texts;
	uint32_t scopes[MU_INDEX_SCOPES]; /* the last namespaces; a ring */
	size_t num_scopes;
};

/*
 * Fill INDEX, which is zero, with what MODULE has, until DEADLINE_NS at most.
 */
void mu_debug_index_make(
    struct mu_debug_index *index, Dwfl_Module *module, uint64_t deadline_ns);

/* Add the static variables of functions. */
void mu_debug_index_deepen(
    struct mu_debug_index *index, Dwfl_Module *module, uint64_t deadline_ns);

/* A hash of NAME without blanks, or of AROUND::NAME. */
uint64_t mu_debug_name_hash(const char *around, const char *name);

/* The type whose hash is HASH; NULL: there is none. */
const struct mu_indexed_type *mu_debug_index_named(
    const struct mu_debug_index *index, uint64_t hash);

/* The type of the entry at PLACE; NULL: it is not in the index. */
const struct mu_indexed_type *mu_debug_index_at(
    const struct mu_debug_index *index, Dwarf_Off place);

/*
 * The last variable that begins at ADDRESS, as in the file, or before; NULL:
 * there is none.
 */
const struct mu_indexed_variable *mu_debug_index_variable(
    const struct mu_debug_index *index, uint64_t address);

/* A text of INDEX. */
const char *mu_debug_index_text(
    const struct mu_debug_index *index, uint32_t text);

/* The unit with the code at ADDRESS, as in the file; false: not known. */
bool mu_debug_index_unit(
    const struct mu_debug_index *index, Dwarf_Addr address, Dwarf_Off *place);

/* True if a structure begins with a type of the name with this hash. */
bool mu_debug_index_begins(const struct mu_debug_index *index, uint64_t own);

#endif
