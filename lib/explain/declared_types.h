/*
 * The declared types of the subject, as they are asked of the process that
 * reads debug information, each once.
 */
#ifndef LIB_EXPLAIN_DECLARED_TYPES_H
#define LIB_EXPLAIN_DECLARED_TYPES_H

#include "heapwalk/explain/keyed.h"
#include "lib/explain/places.h"

struct mu_declared_slot {
	mu_declared_id id;
	bool asked;
	const struct mu_declared *declared; /* NULL: nothing is known */
};

struct mu_declared_types {
	struct mu_places *places;
	struct mu_keyed slots;  /* struct mu_declared_slot */
	mu_declared_id *wanted; /* not asked for yet */
	size_t num_wanted, max_wanted;
	bool no_memory;
};

/* Memory is from PLACES' tables. */
void mu_declared_types_open(
    struct mu_declared_types *types, struct mu_places *places);

/*
 * What is declared of ID; NULL: nothing, or it was not asked for. *ASKED says
 * which; if not, mu_declared_types_ask() will.
 */
const struct mu_declared *mu_declared_types_get(
    struct mu_declared_types *types, mu_declared_id id, bool *asked);

/* The same, if it was asked for. */
const struct mu_declared *mu_declared_types_known(
    const struct mu_declared_types *types, mu_declared_id id);

/* Ask for what was wanted. Returns false if that was nothing, or no memory. */
bool mu_declared_types_ask(struct mu_declared_types *types);

#endif
