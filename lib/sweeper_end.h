/* The sweeper's end, as seen by the program, its parent. */
#ifndef LIB_SWEEPER_END_H
#define LIB_SWEEPER_END_H

#include "lib/pass.h"

/*
 * Upon this signal the sweeper gives its image back and ends: the last of the
 * real-time signals, which programs leave alone.
 */
#define MU_SWEEPER_DROP 64

/*
 * Reap the sweeper; ended first if it has not by DEADLINE_NS (0: at once).
 * Does nothing when there is none. Runs in: original.
 */
void mu_sweeper_reap(struct mu_pass *pass, uint64_t deadline_ns);

/* Has the sweeper ended? Runs in: original. */
bool mu_sweeper_ended(struct mu_pass *pass);

#endif
