/*
 * The third process: a copy-on-write image of the program, in which blocks are
 * listed, marked and folded, and the result is sent.
 */
#ifndef LIB_HELPERS_SWEEPER_H
#define LIB_HELPERS_SWEEPER_H

#include "lib/state/image.h"

/* Private memory of fewer bytes is searched by one worker. */
#define MU_SWEEPER_SMALL ((size_t)5 << 19)

/* How a search in place and the program wait for each other. */
struct mu_in_place_calls {
	/* Returns when it is known that there is memory for tables. */
	void (*await_room)(void *ctx);
	/*
	 * The search is over, and the answer of so many bytes (SIZE_MAX: that
	 * is not known) may be more than a pipe holds. False: do not send it.
	 */
	bool (*large_answer)(void *ctx, size_t bytes);
	/*
	 * Called between steps, and within the longest; it may leave the
	 * search. NULL: nothing. One worker searches then.
	 */
	void (*step)(void *ctx);
	void *ctx;
	uint64_t until_ns; /* of the search */
	int *pagemap;      /* the descriptor that it leaves open; -1: none */
};

/*
 * Search in the memory that we share with the program, or are a thread of,
 * which is stopped until CALLS->large_answer() is called or, if the answer is
 * small, until this returns. Tables are in the SIZE bytes at MEMORY (see
 * mu_arena_open_on()); nothing else is written but our stack. Returns true if a
 * complete answer was sent. False: there is none, and an image is needed;
 * nothing was sent, unless the pipe is broken. Runs in: sweeper, original.
 */
bool mu_sweeper_in_place(const struct mu_image *shared, void *memory,
    size_t size, const struct mu_in_place_calls *calls);

/* What a process that searches does first. */
void mu_sweeper_begin(const struct mu_image *image);

/* The body of the sweeper. Runs in: sweeper. */
void mu_sweeper(struct mu_image *image) __attribute__((noreturn));

#endif
