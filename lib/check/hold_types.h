/*
 * What hangs on the examples of groups by what is declared: the fields that
 * lead there, and types of blocks that show none themselves.
 */
#ifndef LIB_CHECK_HOLD_TYPES_H
#define LIB_CHECK_HOLD_TYPES_H

#include "lib/check/block_types.h"
#include "lib/pipe/entries.h"

struct mu_hold_field {
	uintptr_t begin; /* of the block */
	char *name;      /* of the field */
};

/* Zero: none. Close in any case. */
struct mu_hold_types {
	struct mu_hold_field *fields;
	size_t count, max;
	char **names; /* of types that were made up here */
	size_t num_names, max_names;
	struct mu_hold_layout *layouts; /* that were asked for */
	size_t num_layouts, max_layouts;
};

/*
 * Find the fields of all groups in ENTRIES, from the types that are TYPES, to
 * which those of more blocks are added. HELPER is asked until DEADLINE_NS.
 */
void mu_hold_types_ask(struct mu_hold_types *holds,
    struct mu_block_types *types, const struct mu_entries *entries,
    struct mu_symbol_helper *helper, uint64_t deadline_ns);

/* The name of the field through which the block at BEGIN hangs; or NULL. */
const char *mu_hold_types_field(
    const struct mu_hold_types *holds, uintptr_t begin);

/* Accepts the zero value. */
void mu_hold_types_close(struct mu_hold_types *holds);

#endif
