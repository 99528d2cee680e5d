/*
 * Records whose blocks were freed while releases were not monitored: they stay
 * for the report until monitoring starts anew. What the report shows of the
 * block is saved when it is freed.
 *
 * Lock-free; cells are reused, never unmapped.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_LATE_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

#define LEAKTRACER_DATA 50 /* bytes of a block that a report shows */

struct leaktracer_late {
	uint64_t time_ns;
	uint64_t size;
	uint32_t stack;
	uint32_t next;
	unsigned char data[LEAKTRACER_DATA]; /* inverted */
};

/* Add a record; the block at POINTER of SIZE bytes must still exist. */
void leaktracer_late_add(
    const struct mu_stack_slot *slot, const void *pointer, size_t size);

/*
 * Visit all records, until VISIT returns false; other threads may add records
 * during that. The numbers passed to VISIT are valid between hold and release.
 */
void leaktracer_late_hold(void);
void leaktracer_late_each(
    bool (*visit)(void *ctx, uint32_t number, const struct leaktracer_late *),
    void *ctx);
void leaktracer_late_data(uint32_t number, unsigned char *data);
void leaktracer_late_release(void);

/*
 * Drop all records. Call before leaktracer_since() moves, which hides records
 * that are added in between.
 */
void leaktracer_late_drop(void);

#endif
