/*
 * Words of the subject that are not followed in order: variables, tables.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_SUBJECT_EACH_WORD_H
#define HEAPWALK_SUBJECT_EACH_WORD_H

#include "heapwalk/subject/snapshot.h"

/* Call VISIT for the words of RANGE that are not 0, until it returns false. */
typedef bool mu_word_visitor(void *ctx, uintptr_t at, uintptr_t word);
void mu_each_word(const struct mu_snapshot *snap, struct mu_range range,
    mu_word_visitor *visit, void *ctx);

/* A word of the subject; 0 if it cannot be read. */
static inline uintptr_t
mu_word_at(const struct mu_snapshot *snap, uintptr_t address)
{
	uintptr_t word = 0;

	mu_snapshot_word(snap, address, &word);
	return word;
}

#endif
