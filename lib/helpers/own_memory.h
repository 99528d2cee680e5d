/*
 * Memory that the library itself has mapped, in which the program keeps no
 * pointers.
 *
 * Runs in: sweeper.
 */
#ifndef LIB_HELPERS_OWN_MEMORY_H
#define LIB_HELPERS_OWN_MEMORY_H

#include "lib/pass/pass.h"

/*
 * What asks about a block has its address in hand: our frames, up to the
 * program's. Empty where leaks are asked for: they hold nothing of interest.
 */
struct mu_range mu_own_frames(const struct mu_pass *pass);

/* Into pass->snap.own, in memory of TABLES, by address. */
enum mu_status mu_own_memory_list(
    struct mu_pass *pass, struct mu_arena *tables);

#endif
