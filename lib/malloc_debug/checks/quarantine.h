/*
 * Freed blocks that are held back for a while: each new one releases the
 * oldest. Writes to them are detected then, or at exit.
 *
 * A block held back keeps its word, with MU_SHADOW_FREED. There is no lock: a
 * slot of the ring that another thread is using is skipped.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_QUARANTINE_H
#define LIB_MALLOC_DEBUG_CHECKS_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for ENTRIES blocks. False = no memory. */
bool quarantine_init(size_t entries);

/*
 * BLOCK is filled, and marked freed in its word; STACK is that of the release,
 * or 0.
 */
void quarantine_put(void *block, uint32_t stack);

/* Check all blocks held back; they stay. */
void quarantine_check(void);

/* The stack that freed a block held back, or 0. */
uint32_t quarantine_stack(const void *block);

#endif
