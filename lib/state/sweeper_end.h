/* The sweeper's end, as seen by the program, its parent. */
#ifndef LIB_STATE_SWEEPER_END_H
#define LIB_STATE_SWEEPER_END_H

#include "lib/pass/pass.h"

/*
 * On this signal the sweeper unmaps its image and ends. It is the last
 * real-time signal, which programs do not use.
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
