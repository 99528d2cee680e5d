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

/* Call first: prevents a core file of this process. */
void mu_sweeper_limits_begin(void);

/* Yield to other processes. Call when no stopped thread waits for us. */
void mu_sweeper_limits_yield(void);

/*
 * Set the limit of TABLES: the option max_memory, or half of the AVAILABLE
 * bytes. SIZE_MAX: not known.
 */
void mu_sweeper_limits_limit(struct mu_arena *tables, size_t available);

/*
 * If STATUS was caused by that limit, say so in WHY, with its value and the
 * value that is needed.
 */
void mu_sweeper_limits_explain(
    const struct mu_arena *tables, enum mu_status status, struct mu_why *why);

#endif
