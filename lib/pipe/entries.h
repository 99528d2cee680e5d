/*
 * The entries of an answer, one at a time: a writer of reports needs no array
 * of all, which would take 368 bytes an entry.
 *
 * Runs in: any.
 */
#ifndef LIB_PIPE_ENTRIES_H
#define LIB_PIPE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwalk/fold/packed.h"
#include "memunreachable/memunreachable.h"

/* An array, or packed bytes (heapwalk/fold/packed.h); the memory is the
 * owner's. */
struct mu_entries {
	const struct Leak *leaks; /* NULL: packed */
	unsigned char *packed;
	size_t size;  /* bytes */
	size_t count; /* entries */
};

struct mu_entries_at {
	struct mu_entries entries;
	size_t number; /* of the next one */
	struct mu_packed_at packed;
	struct Leak leak;
};

/* Those that INFO has as an array. */
struct mu_entries mu_entries_of(const struct UnreachableMemoryInfo *info);

void mu_entries_open(
    struct mu_entries_at *at, const struct mu_entries *entries);

/*
 * The next entry, valid until the next call; NULL: there is no further one. Its
 * address is wiped then: a later pass would find it in a dead frame, and hide
 * the leak.
 */
const struct Leak *mu_entries_next(struct mu_entries_at *at);

/*
 * True if the packed ENTRIES are well-formed. *NUM_MORE: the number of their
 * frames after the first 16 of each.
 */
bool mu_entries_check(const struct mu_entries *entries, size_t *num_more);

/*
 * All of them as an array: LEAKS has room for entries->count, and behind these
 * for the frames that mu_entries_check() counted.
 */
void mu_entries_unpack(const struct mu_entries *entries, struct Leak *leaks);

#endif
