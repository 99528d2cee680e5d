/*
 * The third process: a copy-on-write image of the program that walks, marks,
 * folds, sends and ends.
 */
#ifndef LIB_HELPERS_SWEEPER_H
#define LIB_HELPERS_SWEEPER_H

#include "lib/state/image.h"

/*
 * Search in the memory that we share with the program, which stands still until
 * SEARCHED(CTX) is called, or, where
 * the answer is small, until we end. The tables are in the SIZE bytes at MEMORY
 * (see mu_arena_open_on()); nothing else is written but our stack. True: a
 * complete answer was sent. False: there is none, and an image is needed;
 * SEARCHED was not called, unless the pipe is broken. Runs in: sweeper.
 */
bool mu_sweeper_in_place(const struct mu_image *shared, void *memory,
    size_t size, void (*searched)(void *ctx), void *ctx);

/* The body of the sweeper. Runs in: sweeper. */
void mu_sweeper(struct mu_image *image) __attribute__((noreturn));

#endif
