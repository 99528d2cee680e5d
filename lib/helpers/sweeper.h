/*
 * The third process: a copy-on-write image of the program that walks, marks,
 * folds, sends and ends.
 */
#ifndef LIB_HELPERS_SWEEPER_H
#define LIB_HELPERS_SWEEPER_H

#include "lib/pass/pass.h"

/* The body of the sweeper. Runs in: sweeper. */
void mu_sweeper(struct mu_pass *pass) __attribute__((noreturn));

#endif
