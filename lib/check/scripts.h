/*
 * The interpreted functions in an answer's stacks, by their frames. Strings are
 * copies, as the recorder's memory is not kept.
 */
#ifndef LIB_CHECK_SCRIPTS_H
#define LIB_CHECK_SCRIPTS_H

#include "heapwalk/recorded/recorded.h"

struct mu_script_name {
	uintptr_t frame;
	struct mu_script script; /* of malloc() */
};

/* Initialise to zero; close at the end. */
struct mu_scripts {
	struct mu_script_name *all; /* by frame, each once */
	size_t count, max;
};

/*
 * Note FRAME, which RECORDER knows. Returns false if there is no memory; does
 * nothing with other frames.
 */
bool mu_scripts_note(struct mu_scripts *scripts,
    const struct mu_recorder *recorder, uintptr_t frame);

/* NULL if FRAME was not noted. */
const struct mu_script *mu_scripts_find(
    const struct mu_scripts *scripts, uintptr_t frame);

/* Free the strings. */
void mu_scripts_close(struct mu_scripts *scripts);

#endif
