/*
 * Records whose blocks were freed while releases were not monitored: they
 * stay for the report, until monitoring is started anew. What the report shows
 * of the block is noted when it is freed.
 *
 * Lock-free; cells are used again, never unmapped. Runs in: the original, any
 * thread.
 */
#ifndef DEBUG_LEAKTRACER_LATE_H
#define DEBUG_LEAKTRACER_LATE_H

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

/* The block at POINTER of SIZE bytes is still there. */
void leaktracer_late_add(
    const struct mu_stack_slot *slot, const void *pointer, size_t size);

/*
 * All of them; others may be added meanwhile. Ends when VISIT returns false.
 * Between hold and release the numbers that it gets stay good.
 */
void leaktracer_late_hold(void);
void leaktracer_late_each(
    bool (*visit)(void *ctx, uint32_t number, const struct leaktracer_late *),
    void *ctx);
void leaktracer_late_data(uint32_t number, unsigned char *data);
void leaktracer_late_release(void);

/*
 * None any more: before leaktracer_since() moves, which hides whoever comes in
 * between.
 */
void leaktracer_late_drop(void);

#endif
