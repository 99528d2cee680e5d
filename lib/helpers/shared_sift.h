/*
 * Which pages of memory that a copy shares, or does not have, must be kept from
 * a stop: those with a word that may point to a block of the heap. Reading
 * without keeping is bound by the speed of memory only, and needs no memory.
 *
 * Not every address that malloc can return is known before the heap is read:
 * mu_sift_covers() tells afterwards whether a block was looked for.
 *
 * Runs in: keeper; mu_sift_covers() in the command.
 */
#ifndef LIB_HELPERS_SHARED_SIFT_H
#define LIB_HELPERS_SHARED_SIFT_H

#include "heapwalk/subject/snapshot.h"

/* Words with values in these ranges count. */
struct mu_sift {
	struct mu_range low, high; /* for brk(), for mmap(); or empty */
};

/*
 * Where malloc of a process with these MAPPINGS, by address, gets memory now
 * and where it grows: around [heap], and below the stack. Both are empty if
 * there is neither.
 */
void mu_sift_find(
    struct mu_sift *sift, const struct mu_mapping *mappings, size_t count);

/* True if PAGE, of SIZE bytes, aligned to words, must be kept. */
bool mu_sift_keeps(const struct mu_sift *sift, const char *page, size_t size);

/* True if words that point to RANGE count. */
bool mu_sift_covers(const struct mu_sift *sift, struct mu_range range);

#endif
