/*
 * The third process: a copy-on-write image of the program that walks, marks,
 * folds, sends and ends.
 */
#ifndef LIB_SWEEPER_H
#define LIB_SWEEPER_H

#include "lib/pass.h"

/* The body of the sweeper. Runs in: sweeper. */
void mu_sweeper(struct mu_pass *pass) __attribute__((noreturn));

/*
 * Reap the sweeper; killed first if it has not ended by DEADLINE_NS (0: at
 * once). Does nothing when there is none. Runs in: original.
 */
void mu_sweeper_reap(struct mu_pass *pass, uint64_t deadline_ns);

/* Has the sweeper ended? Runs in: original. */
bool mu_sweeper_ended(struct mu_pass *pass);

#endif
