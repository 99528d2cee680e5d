/* What is known of words by what debug information declares. */
#ifndef LIB_EXPLAIN_TYPED_H
#define LIB_EXPLAIN_TYPED_H

#include "lib/explain/declared_types.h"

/* A variable of the subject. */
struct mu_typed_variable {
	struct mu_range range; /* must come first: mu_ranges_upper() */
	const char *name;
	const char *module; /* of a thread-local one of a library; or NULL */
	mu_declared_id type;
	bool reference;
	/* That it is a local of: it may not have a value yet; or NULL. */
	const char *function;
};

/* What typed words say of a block. */
enum {
	MU_SAID = 1,
	MU_CONTESTED = 2, /* different types */
	MU_SOUND = 4,     /* its pointers lead to what its type declares */
	MU_PROVEN = 8,    /* see lib/explain/typed_proof.h */
	MU_DOUBTED = 16,  /* the opposite */
};

struct mu_typed {
	struct mu_places *places;
	struct mu_declared_types types;
	struct mu_typed_variable *variables; /* by address */
	size_t count, max;
	uint8_t *said; /* by block number: MU_SAID and so on */
	bool unproven; /* names alone are wanted: all may stay probable */
	bool no_memory;
};

/* The variable that has the byte at ADDRESS; NULL: it is not known. */
const struct mu_typed_variable *mu_typed_variable_at(
    const struct mu_typed *typed, uintptr_t address);

#endif
