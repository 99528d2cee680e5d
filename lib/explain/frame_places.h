/*
 * The frames of a thread's stack.
 */
#ifndef LIB_EXPLAIN_FRAME_PLACES_H
#define LIB_EXPLAIN_FRAME_PLACES_H

#include "lib/explain/places.h"

struct mu_frame_place {
	const struct mu_thread *thread;
	uintptr_t call; /* the instruction, or the last byte of the call */
	uintptr_t sp, fp, cfa;          /* 0: not known */
	const struct mu_symbol *symbol; /* of CALL */
};

/*
 * Visit each, the innermost first, as far as the stack can be followed, until
 * VISIT returns false. Symbols belong to the helper of PLACES.
 */
void mu_frame_places_each(struct mu_places *places,
    const struct mu_thread *thread,
    bool (*visit)(void *ctx, const struct mu_frame_place *place), void *ctx);

#endif
