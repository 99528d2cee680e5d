/*
 * Mark every block that can be reached from the roots.
 *
 * An explicit, bounded stack; when it overflows, what is marked and not scanned
 * is found by its bits until nothing is left over. Never recursive, never fails
 * for lack of stack.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MARK_H
#define HEAPWALK_MARK_H

#include "heapwalk/blocks.h"
#include "heapwalk/roots.h"

/*
 * Reads MU_ERR_TIMEOUT when DEADLINE_NS (CLOCK_MONOTONIC) passes first; marks
 * are then incomplete and nothing may be reported. MU_PARTIAL when there was no
 * memory for the words that may be old links: all of them were taken for
 * references. MEMORY tells which parts of a large range were ever written;
 * NULL: all of it is read.
 */
enum mu_status mu_mark(struct mu_blocks *blocks, const struct mu_roots *roots,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns);

/*
 * Second look: blocks were marked, and SUSPECTS (by address) are those that an
 * earlier image of the same process had lost. What is unmarked and not among
 * them counts as a root. Everything else as above.
 */
enum mu_status mu_mark_unsuspected(struct mu_blocks *blocks,
    const struct mu_range *suspects, size_t count, struct mu_memory *memory,
    struct mu_arena *arena, uint64_t deadline_ns);

/* mu_mark() with room for MAX_DEPTH pending blocks a worker, at least 1. */
enum mu_status mu_mark_bounded(struct mu_blocks *blocks,
    const struct mu_roots *roots, struct mu_memory *memory,
    struct mu_arena *arena, uint64_t deadline_ns, size_t max_depth);

#endif
