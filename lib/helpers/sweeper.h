/*
 * The third process: a copy-on-write image of the program, in which blocks are
 * listed, marked and folded, and the result is sent.
 */
#ifndef LIB_HELPERS_SWEEPER_H
#define LIB_HELPERS_SWEEPER_H

#include "lib/state/image.h"

/* How a search in place and the program wait for each other. */
struct mu_in_place_calls {
	/* Returns when it is known that there is memory for tables. */
	void (*await_room)(void *ctx);
	void (*searched)(void *ctx); /* the program may continue */
	void *ctx;
};

/*
 * Search in the memory that we share with the program, which is stopped until
 * CALLS->searched() is called or, if the answer is small, until we end. Tables
 * are in the SIZE bytes at MEMORY (see mu_arena_open_on()); nothing else is
 * written but our stack. Returns true if a complete answer was sent. False:
 * there is none, and an image is needed; nothing was sent, unless the pipe is
 * broken. Runs in: sweeper.
 */
bool mu_sweeper_in_place(const struct mu_image *shared, void *memory,
    size_t size, const struct mu_in_place_calls *calls);

/* The body of the sweeper. Runs in: sweeper. */
void mu_sweeper(struct mu_image *image) __attribute__((noreturn));

#endif
