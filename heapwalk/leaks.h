/*
 * Entries of the answer: equal ones become one, the heaviest come first.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_LEAKS_H
#define HEAPWALK_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/range.h"

#define MU_LEAK_FRAMES 16
#define MU_LEAK_CONTENTS 32

struct mu_leak {
	struct mu_range range;
	size_t referenced_count, referenced_size; /* bytes */
	size_t similar_count, similar_size;
	size_t similar_referenced_count, similar_referenced_size;
	size_t total_size;
	size_t num_frames;
	uintptr_t frames[MU_LEAK_FRAMES];
	unsigned char contents[MU_LEAK_CONTENTS];
	size_t num_more;       /* frames behind those */
	const uintptr_t *more; /* of the arena; NULL: none, or no room */
	bool cut;              /* the recorder kept no more */
};

/*
 * Entries with the same frames become one, at the lowest address (MU-76);
 * without frames each stays by itself. *COUNT falls; the order is lost.
 */
void mu_leaks_merge(struct mu_leak *entries, size_t *count);

/* Falling total_size, ties by address. */
void mu_leaks_sort(struct mu_leak *entries, size_t count);

#endif
