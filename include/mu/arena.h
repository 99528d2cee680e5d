/*
 * The private arena: memory for a pass, separate from malloc.
 *
 * A list of mmapped pieces; single objects are never freed. The address of
 * every piece is recorded, so that marking can skip our own memory: not every
 * kernel can name mappings (PR_SET_VMA_ANON_NAME).
 *
 * Used by one thread at a time. Runs in: any.
 */
#ifndef MU_ARENA_H
#define MU_ARENA_H

#include <stddef.h>

#include "mu/range.h"

struct mu_arena_piece;

struct mu_arena {
	struct mu_arena_piece *pieces; /* newest first; objects are taken from
					  it */
	size_t used;                   /* bytes mapped so far */
	size_t limit;                  /* bytes that may be mapped */
	size_t refused;   /* the limit that the largest refused request would
			     need, at least; 0 if none was refused */
	size_t fail_at;   /* tests: fail the n-th request from here;
			     0 = never */
	char *given;      /* where the next piece comes from, with */
	size_t num_given; /* so many bytes; NULL: each is mapped */
};

/* Open ARENA, which may map up to LIMIT bytes. Maps nothing yet. */
void mu_arena_open(struct mu_arena *arena, size_t limit);

/*
 * Map room for BYTES, and for small objects, at once if ARENA is empty; without
 * effect if that fails.
 */
void mu_arena_reserve(struct mu_arena *arena, size_t bytes);

/*
 * Open ARENA on the SIZE bytes at MEMORY (zeroed, a multiple of 64 KiB, aligned
 * to 16) only. MEMORY stays the caller's: do not call mu_arena_close().
 */
void mu_arena_open_in(struct mu_arena *arena, void *memory, size_t size);

/*
 * The same, but piece by piece: MEMORY is private, anonymous and page-aligned,
 * and pages that are released become zeros again. For an arena whose user may
 * be killed at any moment in an address space that is still used.
 */
void mu_arena_open_on(struct mu_arena *arena, void *memory, size_t size);

/* Touch the next BYTES of the newest piece, so that the kernel backs them. */
void mu_arena_touch(struct mu_arena *arena, size_t bytes);

/*
 * COUNT objects of SIZE bytes, zeroed, aligned to 16. NULL if the product
 * overflows, the limit is reached or the kernel refuses.
 */
void *mu_arena_alloc(struct mu_arena *arena, size_t count, size_t size);

/*
 * The same for a table with random access: in huge pages if it is large and the
 * kernel has any.
 */
void *mu_arena_alloc_table(struct mu_arena *arena, size_t count, size_t size);

/*
 * Grow the newest object from OLD to NEW elements of SIZE bytes, in place or to
 * a new place, which leaves the old one unused. Returns NULL as
 * mu_arena_alloc() does; the old object is then still valid. With a NULL array
 * and OLD 0 it allocates.
 */
void *mu_arena_grow(struct mu_arena *arena, void *array, size_t old_count,
    size_t new_count, size_t size);

/*
 * True if ITEMS, an array in ARENA or NULL with COUNT of MAX elements in use,
 * has room for one more. A full array grows: to FIRST elements, then to twice
 * as many. Returns false without memory; nothing has changed then.
 */
#define mu_arena_room(arena, items, count, max, first) \
	((count) < (max) ||                            \
	    mu_arena_more(arena, &(items), &(max), sizeof(*(items)), first))

/*
 * True if ITEMS, the same with COUNT elements, has room for TO, at least COUNT.
 * Returns false without memory; nothing has changed then.
 */
#define mu_arena_extend(arena, items, count, to) \
	mu_arena_extended(arena, &(items), count, to, sizeof(*(items)))

/* ITEMS is the address of the array's pointer. */
bool mu_arena_extended(struct mu_arena *arena, void *items, size_t old_count,
    size_t new_count, size_t size);
bool mu_arena_more(struct mu_arena *arena, void *items, size_t *max,
    size_t size, size_t first);

/*
 * Shrink the newest object to its first COUNT elements of SIZE bytes. Whole
 * pages behind them are returned to the kernel.
 */
void mu_arena_trim(
    struct mu_arena *arena, void *array, size_t count, size_t size);

/*
 * Release what was allocated since PIECES was arena->pieces, except for the
 * rest of that piece. The objects are invalid afterwards.
 */
void mu_arena_rewind(struct mu_arena *arena, struct mu_arena_piece *pieces);

/* Call VISIT for every mapped piece. */
void mu_arena_each(const struct mu_arena *arena,
    void (*visit)(void *ctx, struct mu_range piece), void *ctx);

/*
 * Clear all objects, which stay mapped: a process that copies this memory later
 * finds no address in it.
 */
void mu_arena_wipe(struct mu_arena *arena);

/* Unmap everything. Accepts an arena that is zero or closed. */
void mu_arena_close(struct mu_arena *arena);

#endif
