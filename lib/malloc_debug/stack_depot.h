/*
 * Every stack once: see struct mu_stack for how it lies in memory.
 *
 * Lock-free; entries stay. Runs in: the original, any thread.
 */
#ifndef STACK_DEPOT_H
#define STACK_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

/* False = no memory. The directory is for struct mu_recorded. */
bool stack_depot_init(void);
uint64_t *stack_depot_directory(void);

/* The unit of the stack, MU_STACK_EMPTY if it has no frames, 0 = no memory. */
uint32_t stack_depot_put(
    const uintptr_t *frames, size_t num_frames, uint16_t flags);

/* NULL for what is no unit of a stack. A slot leads to its stack. */
const struct mu_stack *stack_depot_get(uint32_t unit);

/* How many were put that were not there yet. */
uint32_t stack_depot_count(void);

/* For LeakTracer: a slot for one block; given back, it is used again. */
uint32_t stack_depot_slot(uint32_t stack, uint64_t time_ns);
const struct mu_stack_slot *stack_depot_slot_get(uint32_t unit);
void stack_depot_slot_free(uint32_t unit);

#endif
