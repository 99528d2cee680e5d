/*
 * The layout of the journal in memory.
 *
 * Entries form a ring. A ticket denotes a position for good, and its entry
 * stores the ticket: an operation that ends after its entry was reused does not
 * write to it.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_JOURNAL_RING_H
#define LIB_MALLOC_DEBUG_DUMPS_JOURNAL_RING_H

#include <stdint.h>

#include "lib/malloc_debug/dumps/journal.h"

/* An entry's state: its ticket, and in the lower two bits one of these. */
enum {
	JOURNAL_EMPTY,
	JOURNAL_TAKEN,
	JOURNAL_FILLING,
	JOURNAL_FULL,
	JOURNAL_STATES
};

struct journal_entry {
	uint64_t state;
	uint64_t first, second;
	uint64_t start_ns, end_ns;
	const void *pointer;
	int tid;
	enum journal_op op;
};

struct journal_ring {
	struct journal_entry *entries;
	uint64_t room;
	uint64_t first, next; /* tickets in use; first moves in writes only */
};

extern struct journal_ring journal_ring;

static inline struct journal_entry *
journal_ring_entry(uint64_t ticket)
{
	return &journal_ring.entries[ticket % journal_ring.room];
}

/* In the child after fork(): finish what another thread was writing. */
void journal_write_fork_child(void);

#endif
