/*
 * The memory of the depot: blocks of 1 MiB, mapped on demand and divided into
 * units that are never freed.
 *
 * Lock-free.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_DEPOT_MEMORY_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_DEPOT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"
#include "mu/recorded.h"

/* Address of each block, or 0. */
extern HIDDEN uint64_t depot_blocks[MU_DEPOT_BLOCKS];

/* Map the first block; false without memory. */
bool depot_memory_init(void);

/* Take SIZE zeroed bytes within one block. Returns their unit, or 0. */
uint32_t depot_memory_take(size_t size);

/* Address of a unit that was taken. */
static inline struct mu_stack *
depot_memory_at(uint32_t unit)
{
	uint64_t block = __atomic_load_n(
	    &depot_blocks[unit >> MU_DEPOT_BLOCK_SHIFT], __ATOMIC_RELAXED);
	uint64_t at = unit & ((1u << MU_DEPOT_BLOCK_SHIFT) - 1);

	return (struct mu_stack *)(uintptr_t)(block + at * MU_DEPOT_UNIT);
}

/*
 * NULL unless UNIT and the SIZE bytes at it have been taken, within one block.
 */
struct mu_stack *depot_memory_check(uint32_t unit, size_t size);

#endif
