/*
 * The third process: a copy-on-write image of the program, in which blocks are
 * listed, marked and folded, and the result is sent.
 */
#ifndef LIB_HELPERS_SWEEPER_H
#define LIB_HELPERS_SWEEPER_H

#include "lib/state/image.h"

/*
 * Search in the memory that we share with the program, which is stopped until
 * SEARCHED(CTX) is called or, if the answer is small, until we end. Tables are
 * in the SIZE bytes at MEMORY (see mu_arena_open_in()); nothing else is written
 * but our stack. Returns true if a complete answer was sent. False: there is
 * none, and an image is needed; SEARCHED was not called, unless the pipe is
 * broken. Runs in: sweeper.
 */
bool mu_sweeper_in_place(const struct mu_image *shared, void *memory,
    size_t size, void (*searched)(void *ctx), void *ctx);

/* The body of the sweeper. Runs in: sweeper. */
void mu_sweeper(struct mu_image *image) __attribute__((noreturn));

#endif
