/*
 * Answers what debug information declares (lib/types/declared.h).
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_DECLARATIONS_H
#define LIB_TYPES_DECLARATIONS_H

#include <elfutils/libdw.h>

#include "lib/symbolize/symbols.h"
#include "lib/types/debug_index.h"
#include "lib/types/declared.h"

#define MU_DECLARED_NAMES ((size_t)32 << 10) /* bytes of one answer */

/* Initialise to zero, except SYMBOLS. */
struct mu_declarations {
	struct mu_symbols *symbols;
	struct mu_debug_index *indexes; /* of the loaded files */
	size_t count;

	/* The last answer. */
	struct mu_declared answer;
	struct mu_declared_field fields[MU_DECLARED_FIELDS];
	struct mu_declared_key keys[MU_DECLARED_KEYS];
	char names[MU_DECLARED_NAMES];
	size_t used;
};

/*
 * Answer QUESTION about ADDRESS. Returns NULL if nothing is known; otherwise
 * the answer is valid until the next call.
 */
const struct mu_declared *mu_declarations_answer(
    struct mu_declarations *declarations, enum mu_declared_question question,
    uint64_t address);

/*
 * The type of the class or structure NAME, with its namespaces, in the module
 * of ADDRESS, or in any that was read already; 0: it is not known.
 */
mu_declared_id mu_declarations_named(
    struct mu_declarations *declarations, uintptr_t address, const char *name);

/*
 * The index of loaded file MODULE, which is made if there is none; it is empty
 * without debug information. NULL: there is no such file, or no memory. Valid
 * until the next call of any of these functions.
 */
const struct mu_debug_index *mu_declarations_index(
    struct mu_declarations *declarations, size_t module);

/*
 * Call READ with the entry REF of loaded file MODULE, if there is one.
 * False: there is no such file, or it is damaged.
 */
bool mu_declarations_entry(struct mu_declarations *declarations, size_t module,
    mu_die_ref ref, void (*read)(void *ctx, Dwarf_Die *die), void *ctx);

#endif
