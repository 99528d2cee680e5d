/*
 * A report is full of addresses of lost blocks: in memory that the next pass
 * searches it would hide every leak that it lists. Each answer therefore has a
 * separate mapping, and the list of them is excluded from the roots.
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
 * Room for COUNT entries and NUM_MORE frames behind them, zeroed and known to
 * the list; NULL if the kernel refuses. With COUNT 0 there is nothing to hold:
 * NULL as well.
 */
struct Leak *mu_results_new(
    struct mu_results *results, size_t count, size_t num_more);

/* The same for any other answer of SIZE bytes. */
void *mu_results_new_bytes(struct mu_results *results, size_t size);

/* Wipe, forget and unmap ANSWER; false if it is none of ours. */
bool mu_results_free(struct mu_results *results, void *answer);

/* The same for packed ENTRIES, which may have none and has none then. */
void mu_results_drop(struct mu_results *results, struct mu_entries *entries);

/* Every mapping of the list. Tolerates being interrupted mid-update. */
void mu_results_each(const struct mu_results *results,
    void (*visit)(void *ctx, struct mu_range range), void *ctx);

#endif
