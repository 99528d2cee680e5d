/*
 * Entries of the answer as bytes: 10 to 50 each, while a struct mu_leak has
 * 264. Numbers are LEB128, addresses are differences from the entry before, and
 * zeros at the end of contents are left out.
 *
 * Runs in: any; the sweeper packs, the original and the command unpack.
 */
#ifndef HEAPWALK_FOLD_PACKED_H
#define HEAPWALK_FOLD_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/fold/leaks.h"
#include "mu/arena.h"
#include "mu/recorded.h"

#define MU_PACKED_LEAST 4 /* bytes of the smallest entry */
#define MU_PACKED_MOST_WITH(frames) (1 + 10 * (10 + (size_t)(frames)) + 33)
#define MU_PACKED_MOST MU_PACKED_MOST_WITH(MU_STACK_MAX_FRAMES)

/*
 * Of a group: its example, twelve numbers and other blocks; eight and a text of
 * each row.
 */
#define MU_PACKED_GROUP_MORE           \
	((12 + MU_GROUP_OTHERS) * 10 + \
	    MU_GROUP_HOLDS * (8 * 10 + 1 + MU_GROUP_TEXT))
#define MU_PACKED_GROUP_MOST (MU_PACKED_MOST + MU_PACKED_GROUP_MORE)

struct mu_packed_piece {
	struct mu_packed_piece *next;
	size_t size, used; /* bytes */
	unsigned char bytes[];
};

/* Initialise to zero, except ARENA and FILE. */
struct mu_packed {
	struct mu_arena *arena;
	const int *file; /* descriptor: what is much goes there; or NULL */
	size_t filed;    /* bytes there, before those of the pieces */
	struct mu_packed_piece *first, *last;
	size_t count, size;  /* number of entries; bytes of all */
	size_t num_groups;   /* which follow all entries */
	size_t entries_size; /* bytes of these */
	uintptr_t before;    /* address of the last entry */
};

/* Append ENTRY. Returns false if memory is exhausted. */
bool mu_packed_add(struct mu_packed *packed, const struct mu_leak *entry);

/* Append GROUP, after all entries. Returns false if memory is exhausted. */
bool mu_packed_add_group(
    struct mu_packed *packed, const struct mu_lost_group *group);

/* Write all pieces to the file. Returns false if that fails. */
bool mu_packed_to_file(struct mu_packed *packed);

/*
 * True if so many entries, and the groups in INFO, can take SIZE bytes, and
 * INFO is possible for LOST blocks of BYTES. Pure.
 */
bool mu_packed_fits(const struct mu_groups_info *info, size_t num_entries,
    size_t size, size_t lost, size_t bytes);

/* A position in packed entries. */
struct mu_packed_at {
	const unsigned char *next, *end;
	uintptr_t before;
	bool damaged; /* the bytes are not an entry */
	uintptr_t more[MU_STACK_MAX_FRAMES];
};

/* Open the bytes of all pieces, joined; they may be untrusted. */
void mu_packed_open(
    struct mu_packed_at *at, const unsigned char *bytes, size_t size);

/*
 * Read the next entry into *ENTRY; entry->more is valid until the next call.
 * Returns false if there is none, or it is damaged.
 */
bool mu_packed_next(struct mu_packed_at *at, struct mu_leak *entry);

/* The same for a group, in the bytes that follow all entries. */
bool mu_packed_next_group(struct mu_packed_at *at, struct mu_lost_group *group);

#endif
