/* Shared by the searches for live and ended stacks; for stacks*.c only. */
#ifndef HEAPWALK_SUBJECT_STACKS_SEARCH_H
#define HEAPWALK_SUBJECT_STACKS_SEARCH_H

#include "heapwalk/subject/stacks.h"

/* One word of each thread, ascending. */
struct mu_stacks_words {
	uintptr_t *words;
	size_t count;
};

struct mu_stacks_search {
	struct mu_stacks *stacks;
	const struct mu_snapshot *snap;
	struct mu_stacks_words sps, tps;
};

/* The lowest of WORDS in RANGE; false if there is none. */
bool mu_stacks_lowest(const struct mu_stacks_words *words,
    struct mu_range range, uintptr_t *lowest);

/*
 * Read stack block and size at ADDRESS, inside the struct pthread of TP.
 * Returns false if they cannot be those of a stack with TP at its top.
 */
bool mu_stacks_read_block(const struct mu_snapshot *snap, uintptr_t address,
    uintptr_t tp, struct mu_range *block);

/*
 * Add the stacks of threads that ended. Returns false if memory is exhausted.
 */
bool mu_stacks_add_ended(
    struct mu_stacks_search *search, const struct mu_ranges *skip);

/* True if one of WORDS is in RANGE. */
static inline bool
mu_stacks_any(const struct mu_stacks_words *words, struct mu_range range)
{
	uintptr_t lowest;

	return mu_stacks_lowest(words, range, &lowest);
}

#endif
