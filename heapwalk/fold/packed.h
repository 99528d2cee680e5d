/*
 * Entries of the answer as bytes: 10 to 50 each, while a struct mu_leak has
 * 264. Numbers are LEB128, addresses are differences from the entry before, and
 * zeros at the end of contents are left out.
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

struct mu_packed_piece {
	struct mu_packed_piece *next;
	size_t size, used; /* bytes */
	unsigned char bytes[];
};

/* Initialise to zero, except ARENA. */
struct mu_packed {
	struct mu_arena *arena;
	struct mu_packed_piece *first, *last;
	size_t count, size; /* number of entries; bytes in all pieces */
	uintptr_t before;   /* address of the last entry */
};

/* Append ENTRY. Returns false if memory is exhausted. */
bool mu_packed_add(struct mu_packed *packed, const struct mu_leak *entry);

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

#endif
