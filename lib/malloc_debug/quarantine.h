/*
 * Blocks that the program has freed, held back for a while: the one that has
 * waited longest is let go for each new one. Who writes to them is found out
 * then, or at exit.
 *
 * A block held back keeps its word, with MU_SHADOW_FREED. There is no lock: a
 * place in the ring that another thread is just at is passed by.
 *
 * Runs in: the original, any thread.
 */
#ifndef QUARANTINE_H
#define QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for ENTRIES blocks. False = no memory. */
bool quarantine_init(size_t entries);

/* BLOCK is filled, and marked in its word; STACK is of who freed it, or 0. */
void quarantine_put(void *block, uint32_t stack);

/* Check all that are still here; they stay. */
void quarantine_check(void);

/* Of a block held back: who freed it, or 0. */
uint32_t quarantine_stack(const void *block);

#endif
