/*
 * The types of the reachable blocks.
 *
 * Blocks that begin with the same pointer into a module, and have one size, are
 * asked for once: they have one vtable; so are objects of CPython,
 * which have their class behind the number of references to them. Of all
 * others, the first 32,768 of each size are asked for one by one, at most
 * 131,072. If these of a size have all one type, the rest of that size probably
 * have it, too.
 */
#ifndef LIB_EXPLAIN_LIVE_TYPES_H
#define LIB_EXPLAIN_LIVE_TYPES_H

#include "lib/explain/places.h"

#define MU_LIVE_TYPES_MAX 65535

struct mu_live_type {
	const char *name; /* of the explanation's memory; of a row: of one
			     element */
	bool certain;     /* proven, otherwise probable */
	bool content;     /* what the bytes look like: "text" */
	enum mu_type_source source;
	enum mu_type_counter counter;
	size_t offset;      /* of the object, from the block's begin */
	mu_declared_id id;  /* for questions about it; 0: not known */
	uint32_t stride;    /* bytes of an element of a row; 0: it is none */
	uint32_t elements;  /* of the row; 0: as many as fit */
	size_t least, most; /* usable bytes of its blocks */
};

struct mu_live_types {
	struct mu_live_type *types; /* the first one is no type */
	size_t count, max;
	uint16_t *names; /* by hash: types */
	uint16_t *of;    /* by block number: its type; 0: not known */
	bool python;     /* there may be objects of CPython */
	bool late;       /* there was no time for some of them */
	size_t unasked;  /* blocks of which nothing could be said therefore */
};

struct mu_typed; /* lib/explain/typed.h */

/*
 * Find the types of the marked blocks of PLACES, and what is declared of them
 * in TYPED, which is zero but for UNPROVEN; HELD are the words that hold them.
 * Names that are not found in time are missing. Memory is from places->tables,
 * names from places->arena. MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT: DEADLINE has
 * passed.
 */
enum mu_status mu_live_types_find(struct mu_live_types *live,
    struct mu_places *places, struct mu_typed *typed,
    const struct mu_held *held, struct mu_deadline *deadline);

/*
 * The number of a type like TYPE, which is copied; 0: there is no memory, or
 * there are too many.
 */
uint16_t mu_live_types_add(struct mu_live_types *live,
    const struct mu_places *places, const struct mu_live_type *type);

/*
 * The name of TYPE for a block of SIZE bytes, such as "Session[10]", in the
 * memory of PLACES; NULL: not known.
 */
const char *mu_live_type_name(const struct mu_places *places,
    const struct mu_live_type *type, size_t size);

/*
 * True if a block of SIZE bytes of TYPE, which is a row, has the name WANTED:
 * "Session[10]", or "Session[]" of any length.
 */
bool mu_live_type_is_row(
    const struct mu_live_type *type, size_t size, const char *wanted);

/* The type of marked block NUMBER, which mu_live_types_find() has found. */
static inline const struct mu_live_type *
mu_live_type_of(const struct mu_live_types *live, uint32_t number)
{
	return &live->types[live->of[number]];
}

#endif
