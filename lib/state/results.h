/*
 * Memory for reports. A report contains addresses of leaked blocks: if the next
 * pass searched it, it would hide every leak that it lists. Each answer
 * therefore has a separate mapping, and the mappings on the list are excluded
 * from the roots.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_RESULTS_H
#define LIB_STATE_RESULTS_H

#include <stddef.h>

#include "lib/pipe/entries.h"
#include "lib/state/lock.h"
#include "memunreachable/memunreachable.h"
#include "mu/range.h"

struct mu_result;

struct mu_results {
	struct mu_lock lock;
	struct mu_result *first;
};

/*
 * Memory for COUNT entries followed by NUM_MORE frames, zeroed and added to the
 * list. NULL if the kernel refuses, or if COUNT is 0.
 */
struct Leak *mu_results_new(
    struct mu_results *results, size_t count, size_t num_more);

/* The same for another answer of SIZE bytes. */
void *mu_results_new_bytes(struct mu_results *results, size_t size);

/* Clear, unlist and unmap ANSWER; false if it is not on the list. */
bool mu_results_free(struct mu_results *results, void *answer);

/*
 * The same for packed ENTRIES, which may be empty and are empty afterwards;
 * RESULTS NULL: their memory is a pass's.
 */
void mu_results_drop(struct mu_results *results, struct mu_entries *entries);

/*
 * Visit every mapping of the list. An update may have been interrupted in the
 * middle.
 */
void mu_results_each(const struct mu_results *results,
    void (*visit)(void *ctx, struct mu_range range), void *ctx);

#endif
