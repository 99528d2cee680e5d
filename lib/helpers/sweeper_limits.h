/*
 * Priority and limits of the sweeper, so that it does not disturb the program
 * and the machine.
 *
 * Runs in: sweeper.
 */
#ifndef LIB_HELPERS_SWEEPER_LIMITS_H
#define LIB_HELPERS_SWEEPER_LIMITS_H

#include <stddef.h>

#include "mu/arena.h"
#include "mu/status.h"

/* First of all: there is no core file of this process. */
void mu_sweeper_limits_begin(void);

/* Give way to other processes. Call once no thread waits for us in a stop. */
void mu_sweeper_limits_yield(void);

/*
 * How much TABLES may take: the option max_memory, or half of the AVAILABLE
 * bytes. SIZE_MAX: nothing tells how many there are.
 */
void mu_sweeper_limits_limit(struct mu_arena *tables, size_t available);

/*
 * If what STATUS tells of is due to that limit, say so in WHY: what it is and
 * what it would have to be.
 */
void mu_sweeper_limits_explain(
    const struct mu_arena *tables, enum mu_status status, struct mu_why *why);

#endif
