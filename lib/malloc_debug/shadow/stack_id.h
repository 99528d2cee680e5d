/*
 * The value for the stack in the word of a new block: a captured stack, or the
 * reason why there is none.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_STACK_ID_H
#define LIB_MALLOC_DEBUG_SHADOW_STACK_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/stack_capture.h"

/*
 * For blocks of the recorder itself, and for those that the program got without
 * guards. Not a unit; never listed.
 */
#define RECORDER_BARE 7u

/* For a block whose stack is not to be captured: MU_STACK_OFF or the like. */
extern uint32_t stack_id_off HIDDEN;

/*
 * Blocks of LEAST to LEAST + SPAN bytes get a whole stack, with the number of
 * frames in CONFIG, without further checks. The range is empty if more has to
 * be checked.
 */
struct stack_id_simple {
	size_t least, span;
	uint64_t config;
};

extern struct stack_id_simple stack_id_simple HIDDEN;

/* Call when options, recorder_capturing or recorder_child change. */
void stack_id_choose(void);

/*
 * By the options, for SIZE requested bytes. 0: out of memory, and recording has
 * stopped.
 */
uint32_t stack_id(struct stack_start start, size_t size);

/* The same for a block that was already chosen by sampling. */
uint32_t stack_id_sampled(struct stack_start start, size_t size);

/* Up to MAX frames whatever the options say; MU_STACK_EMPTY if that fails. */
uint32_t stack_id_captured(struct stack_start start, size_t max);

/* This process is now a child of a recorded process. */
void stack_id_fork_child(void);

#endif
