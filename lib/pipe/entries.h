/*
 * The entries of an answer, one at a time: a writer of reports needs no array
 * of all, which would take 368 bytes per entry.
 *
 * Runs in: any.
 */
#ifndef LIB_PIPE_ENTRIES_H
#define LIB_PIPE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwalk/fold/packed.h"
#include "memunreachable/memunreachable.h"

/*
 * An array, or packed bytes (heapwalk/fold/packed.h). The owner keeps the
 * memory.
 */
struct mu_entries {
	const struct Leak *leaks; /* NULL: the entries are packed */
	unsigned char *packed;
	bool mapped;                  /* these are a mapping of a file */
	size_t size;                  /* bytes, of entries and groups */
	size_t count;                 /* entries */
	size_t groups_at, num_groups; /* first byte of the groups; packed */
};

struct mu_entries_at {
	struct mu_entries entries;
	size_t number; /* index of the next one */
	struct mu_packed_at packed;
	struct Leak leak;
	size_t group; /* of that: 1 + index; 0: in none that is known */
};

/* The groups, one at a time. */
struct mu_groups_at {
	size_t left;
	struct mu_packed_at packed;
	struct mu_lost_group group;
	struct Leak example; /* of GROUP */
};

/* The entries that INFO has as an array. */
struct mu_entries mu_entries_of(const struct UnreachableMemoryInfo *info);

/*
 * Begin with the first entry. The memory of ENTRIES must outlive AT; nothing
 * has to be closed.
 */
void mu_entries_open(
    struct mu_entries_at *at, const struct mu_entries *entries);

/*
 * The next entry, valid until the next call; NULL after the last. The previous
 * one's address is cleared: a later pass would find it in a dead frame, and
 * miss the leak.
 */
const struct Leak *mu_entries_next(struct mu_entries_at *at);

/*
 * Begin with the first group of packed ENTRIES, for which mu_entries_check()
 * has set groups_at; otherwise as mu_entries_open().
 */
void mu_groups_open(struct mu_groups_at *at, const struct mu_entries *entries);

/* The next group, valid until the next call; NULL after the last. */
const struct mu_lost_group *mu_groups_next(struct mu_groups_at *at);

/*
 * True if the packed ENTRIES are well-formed; sets groups_at. *NUM_MORE is the
 * number of frames after the first 16 of each.
 */
bool mu_entries_check(struct mu_entries *entries, size_t *num_more);

/*
 * Unpack all entries into an array: LEAKS has room for entries->count, followed
 * by the frames that mu_entries_check() counted.
 */
void mu_entries_unpack(const struct mu_entries *entries, struct Leak *leaks);

#endif
