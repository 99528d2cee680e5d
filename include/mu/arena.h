/*
 * The private arena: memory for a pass, apart from malloc.
 *
 * A list of mmapped pieces; objects are never freed one by one. Every piece
 * is known by address, so that the marking can leave our own memory out:
 * kernel names (PR_SET_VMA_ANON_NAME) are not there on every kernel.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock. One thread at a time.
 */
#ifndef MU_ARENA_H
#define MU_ARENA_H

#include <stddef.h>

#include "mu/range.h"

struct mu_arena_piece;

struct mu_arena {
	struct mu_arena_piece *pieces; /* newest first; objects come from it */
	size_t used;                   /* bytes mapped so far */
	size_t limit;                  /* bytes that may be mapped */
	size_t refused; /* what the limit would have had to be, at least, for
			   what it refused; 0 = it refused nothing */
	size_t fail_at; /* tests: fail the n-th request from here;
			   0 = never */
};

/* LIMIT bounds what is mapped, in bytes; nothing is mapped yet. */
void mu_arena_open(struct mu_arena *arena, size_t limit);

/*
 * The arena has the SIZE bytes at MEMORY (zeroed, a multiple of 64 KiB, aligned
 * to 16) and no others. MEMORY is the caller's: no mu_arena_close().
 */
void mu_arena_open_in(struct mu_arena *arena, void *memory, size_t size);

/* Make the kernel give the memory for the next BYTES of the newest piece. */
void mu_arena_touch(struct mu_arena *arena, size_t bytes);

/*
 * COUNT objects of SIZE bytes, zeroed, aligned to 16. NULL if the product
 * overflows, the limit is reached or the kernel refuses.
 */
void *mu_arena_alloc(struct mu_arena *arena, size_t count, size_t size);

/*
 * The same for a table that is looked at everywhere: in huge pages if it is
 * large and the kernel gives any.
 */
void *mu_arena_alloc_table(struct mu_arena *arena, size_t count, size_t size);

/*
 * Grow the newest object from OLD to NEW elements of SIZE bytes; moves it if
 * it must, leaving the old place unused. NULL as mu_arena_alloc(); the old
 * object is then still good. With array NULL and OLD 0 it allocates.
 */
void *mu_arena_grow(struct mu_arena *arena, void *array, size_t old_count,
    size_t new_count, size_t size);

/*
 * Of the newest object only the first COUNT elements of SIZE bytes are needed
 * from now on: whole pages behind them are given back.
 */
void mu_arena_trim(
    struct mu_arena *arena, void *array, size_t count, size_t size);

/*
 * Give back what was allocated since PIECES was arena->pieces, but for the rest
 * of that piece. The objects in it are gone.
 */
void mu_arena_rewind(struct mu_arena *arena, struct mu_arena_piece *pieces);

/* Call VISIT for every mapped piece. */
void mu_arena_each(const struct mu_arena *arena,
    void (*visit)(void *ctx, struct mu_range piece), void *ctx);

/* Unmap everything. Accepts an arena that is zero or closed. */
void mu_arena_close(struct mu_arena *arena);

#endif
