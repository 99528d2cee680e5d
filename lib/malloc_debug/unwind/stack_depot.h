/*
 * Stores every stack once; struct mu_stack describes the layout in memory.
 *
 * Lock-free; entries are never removed.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_DEPOT_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

/* Initialise. False = no memory. The directory is for struct mu_recorded. */
bool stack_depot_init(void);
uint64_t *stack_depot_directory(void);

/*
 * Store a stack. Returns its unit, MU_STACK_EMPTY without frames, 0 = no
 * memory.
 */
uint32_t stack_depot_put(
    const uintptr_t *frames, size_t num_frames, uint16_t flags);

/* NULL if UNIT is not the unit of a stack. A slot yields its stack. */
const struct mu_stack *stack_depot_get(uint32_t unit);

/* Number of different stacks. */
uint32_t stack_depot_count(void);

/* For LeakTracer: a slot for one block; freed slots are reused. */
uint32_t stack_depot_slot(uint32_t stack, uint64_t time_ns);
const struct mu_stack_slot *stack_depot_slot_get(uint32_t unit);
void stack_depot_slot_free(uint32_t unit);

#endif
