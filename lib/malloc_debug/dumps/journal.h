/*
 * The journal of record_allocs: one entry for each operation, in the order in
 * which they began, in an array that is mapped once.
 *
 * Lock-free: a slot is taken before the operation and filled after it; failed
 * operations leave their slot unfilled.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_JOURNAL_H
#define LIB_MALLOC_DEBUG_DUMPS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The meaning of FIRST and SECOND in journal_end(). */
enum journal_op {
	JOURNAL_MALLOC = 1,  /* size */
	JOURNAL_FREE,        /* nothing */
	JOURNAL_CALLOC,      /* members, their size */
	JOURNAL_REALLOC,     /* the old pointer, size */
	JOURNAL_MEMALIGN,    /* alignment, size (rounded up for pvalloc) */
	JOURNAL_THREAD_DONE, /* written by the journal itself */
};

struct journal_entry;

struct journal_slot {
	struct journal_entry *entry; /* NULL: off, or no room */
	uint64_t ticket;
	uint64_t start_ns;
};

/*
 * Map the array; call before the recorder is active. Returns false, with the
 * journal off, if memory is exhausted.
 */
bool journal_start(size_t entries);

/*
 * Once journal_on (recording.h) is set an entry point brackets the operation:
 *	slot = journal_begin();
 *	p = real.malloc(size);
 *	if (p != NULL) journal_end(slot, JOURNAL_MALLOC, p, size, 0);
 * free(NULL) is not recorded. realloc(p, 0) that frees: POINTER NULL, size 0.
 * Operations inside the recorder are not recorded.
 */
struct journal_slot journal_begin(void);
void journal_end(struct journal_slot slot, enum journal_op op,
    const void *pointer, uint64_t first, uint64_t second);

/*
 * Write the journal to the file of the options; at exit with the PID appended.
 */
void journal_dump(void);
void journal_at_exit(void);

/* In the child after fork(). */
void journal_fork_child(void);

#endif
