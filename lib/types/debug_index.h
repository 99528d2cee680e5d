/*
 * An index of one module's debug information: its structures by name and by
 * DIE, its variables by address.
 *
 * It has each structure once, although every unit repeats those of the headers
 * that it includes.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_DEBUG_INDEX_H
#define LIB_TYPES_DEBUG_INDEX_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A reference to an entry (DIE): its offset in .debug_info, .debug_types, the
 * file that dwz(1) made, or the file of a split unit. It has 52 bits.
 */
typedef uint64_t mu_die_ref;
#define MU_NO_DIE UINT64_MAX
#define MU_DIE_REF_BITS 52

#define MU_INDEX_SCOPES 64 /* that are remembered */

struct mu_indexed_type {
	uint64_t hash;  /* of the whole name, without blanks */
	uint64_t own;   /* of the name without namespaces */
	mu_die_ref ref; /* of its entry */
	uint64_t size;
	uint64_t first;  /* hash of the type of its first member; 0: none */
	uint32_t around; /* text: the namespaces: "shop"; "" */
	uint32_t name;   /* text; of a structure without one: of its typedef */
	uint32_t alike;  /* 1: others of its size begin with such a member */
	uint32_t nested; /* 1: it has types in it */
};

/* The entries of one type. */
struct mu_indexed_die {
	mu_die_ref ref;
	uint64_t type; /* its index */
};

struct mu_indexed_variable {
	uint64_t address; /* as in the file; of a thread-local one its offset */
	mu_die_ref ref;
};

struct mu_indexed_variables {
	struct mu_indexed_variable *list; /* by address */
	size_t count, max;
};

/* Code of one unit. */
struct mu_indexed_code {
	Dwarf_Addr begin, end; /* as in the file */
	mu_die_ref ref;        /* of the unit's entry */
};

struct mu_debug_index {
	bool asked;      /* it was made */
	bool failed;     /* it is not complete */
	bool late;       /* because there was no time */
	bool incomplete; /* a file of a split unit, or dwz's, was not found */
	bool deep;       /* variables of functions are there, too */
	uint64_t deadline_ns;
	unsigned seen;

	struct mu_indexed_type *types;
	size_t num_types, max_types;
	uint32_t *slots; /* by hash: 1 + index; a power of 2 */
	size_t num_slots;
	struct mu_indexed_die *dies; /* by ref */
	size_t num_dies, max_dies;

	/* Hashes of names of types with which others begin; sorted. */
	uint64_t *beginnings;
	size_t num_beginnings, max_beginnings;

	struct mu_indexed_variables variables, thread;

	struct mu_indexed_code *code; /* by address */
	size_t num_code, max_code;

	/* Units that are split: the offsets of what is left of them here. */
	uint64_t *skeletons;
	size_t num_skeletons, max_skeletons;

	/* In this process only. */
	Dwarf *dwarf;
	Dwarf **split; /* of each skeleton; NULL: not opened */
	size_t num_split;
	mu_die_ref *imports; /* units of dwz's file that others import */
	size_t num_imports, max_imports;
	uint32_t *import_slots; /* by ref: 1 + index; a power of 2 */
	size_t num_import_slots;
	bool type_unit;      /* the current one has one type */
	Dwarf_CU *last_unit; /* whose references begin at LAST_BASE */
	mu_die_ref last_base;

	/* Texts, which end with a zero; the first one is empty. */
	char *texts;
	size_t num_texts, max_texts;
	uint32_t scopes[MU_INDEX_SCOPES]; /* the last namespaces; a ring */
	size_t num_scopes;
};

/*
 * Fill INDEX, which is zero except for DWARF, until DEADLINE_NS at most.
 */
void mu_debug_index_make(struct mu_debug_index *index, uint64_t deadline_ns);

/* Add the static variables of functions. */
void mu_debug_index_deepen(struct mu_debug_index *index, uint64_t deadline_ns);

/* lib/types/die_ref.c: the reference to DIE; MU_NO_DIE: it has none. */
mu_die_ref mu_die_ref_of(struct mu_debug_index *index, Dwarf_Die *die);

/* The entry REF; false: there is none. */
bool mu_debug_entry(
    struct mu_debug_index *index, mu_die_ref ref, Dwarf_Die *die);

/* Note that the unit that DIE imports, if it is in dwz's file, is wanted. */
void mu_debug_import(struct mu_debug_index *index, Dwarf_Die *die);

/*
 * Call VISIT with the entry of each unit, and that of what is left of it here
 * if it is split; otherwise both are the same. At last with those of dwz's file
 * that VISIT has noted as imported.
 */
void mu_debug_units(struct mu_debug_index *index,
    void (*visit)(
	struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here));

/* A hash of NAME without blanks, or of AROUND::NAME. */
uint64_t mu_debug_name_hash(const char *around, const char *name);

/* The type whose hash is HASH; NULL: there is none. */
const struct mu_indexed_type *mu_debug_index_named(
    const struct mu_debug_index *index, uint64_t hash);

/* The type of the entry REF; NULL: it is not in the index. */
const struct mu_indexed_type *mu_debug_index_at(
    const struct mu_debug_index *index, mu_die_ref ref);

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
    const struct mu_debug_index *index, Dwarf_Addr address, mu_die_ref *ref);

/* True if a structure begins with a type of the name with this hash. */
bool mu_debug_index_begins(const struct mu_debug_index *index, uint64_t own);

#endif
