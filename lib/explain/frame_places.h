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

/* A frame of a thread, and the registers in it; 0: not known. */
struct mu_frame {
	uintptr_t pc, sp, fp;
	uintptr_t link; /* where the innermost one returns to */
	bool caller;    /* PC is a return address */
};

/* The innermost frame of THREAD. */
struct mu_frame mu_frame_of(
    const struct mu_snapshot *snap, const struct mu_thread *thread);

/*
 * Make FRAME its caller's, by RULES; *END is where it ended. Returns false if
 * the rules do not lead to one.
 */
bool mu_frame_step_out(const struct mu_snapshot *snap,
    const struct mu_frame_rules *rules, struct mu_frame *frame, uintptr_t *end);

/*
 * Visit each, the innermost first, as far as the stack can be followed, until
 * VISIT returns false. Symbols belong to the helper of PLACES.
 */
void mu_frame_places_each(struct mu_places *places,
    const struct mu_thread *thread,
    bool (*visit)(void *ctx, const struct mu_frame_place *place), void *ctx);

#endif
