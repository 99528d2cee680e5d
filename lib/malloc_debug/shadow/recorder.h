/*
 * The blocks that are recorded.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_RECORDER_H
#define LIB_MALLOC_DEBUG_SHADOW_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/state.h"
#include "mu/recorded.h"

struct recorded_block {
	uintptr_t begin; /* the program's address */
	size_t size;     /* requested size */
	uint32_t stack;  /* MU_STACK_... or a unit of the depot */
	enum mu_block_kind kind;
	bool freed; /* held back */
};

/*
 * Visit every live block by address, until VISIT returns false; other threads
 * may add and remove blocks during that.
 */
void recorder_each(
    bool (*visit)(void *ctx, const struct recorded_block *block), void *ctx);

/* The block at POINTER; false if there is none. */
bool recorder_find(const void *pointer, struct recorded_block *block);

/* Allocated in a child after the fork of a tracked process. */
bool recorder_stack_child(uint32_t stack);

#endif
