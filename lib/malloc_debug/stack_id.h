/*
 * Which stack goes into the word of a new block: captured, or why not.
 *
 * Runs in: the original, any thread.
 */
#ifndef STACK_ID_H
#define STACK_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"
#include "lib/malloc_debug/recorder.h"

/*
 * Of blocks that are the recorder's own, and of those that the program got as
 * the allocator gave them, with no guards around. No unit; never listed.
 */
#define RECORDER_BARE 7u

/* Of a block whose stack is not wanted just now: MU_STACK_OFF or its like. */
extern uint32_t stack_id_off HIDDEN;

/* Blocks of LEAST to LEAST + SPAN bytes get their whole stack of as many frames
 * as CONFIG is of, and nothing else is asked. No size, where things are not so
 * simple. */
struct stack_id_simple {
	size_t least, span;
	uint64_t config;
};

extern struct stack_id_simple stack_id_simple HIDDEN;

/* To be called when options, recorder_capturing or recorder_child change. */
void stack_id_choose(void);

/*
 * By the options, of SIZE bytes asked for. 0: out of memory, and recording has
 * stopped.
 */
uint32_t stack_id(struct stack_start start, size_t size);

/* The same of a block that was sampled already. */
uint32_t stack_id_sampled(struct stack_start start, size_t size);

/* Up to MAX frames whatever the options say; MU_STACK_EMPTY at worst. */
uint32_t stack_id_captured(struct stack_start start, size_t max);

/* From now on this is a child of a process that was tracked. */
void stack_id_fork_child(void);

#endif
