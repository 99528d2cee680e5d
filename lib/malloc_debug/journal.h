/*
 * The journal of record_allocs: one entry an operation, in the order in which
 * they began, in an array that is mapped once.
 *
 * Lock-free: a slot is taken before the operation and filled behind it; what
 * failed leaves its slot unfilled. Runs in: the original, any thread.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What FIRST and SECOND of journal_end() are. */
enum journal_op {
	JOURNAL_MALLOC = 1,  /* size */
	JOURNAL_FREE,        /* nothing */
	JOURNAL_CALLOC,      /* members, their size */
	JOURNAL_REALLOC,     /* the old pointer, size */
	JOURNAL_MEMALIGN,    /* alignment, size (of pvalloc: rounded up) */
	JOURNAL_THREAD_DONE, /* the journal's own */
};

struct journal_entry;

struct journal_slot {
	struct journal_entry *entry; /* NULL: off, or no room */
	uint64_t ticket;
	uint64_t start_ns;
};

/* Before the recorder is up: map the array. False = no memory, and it is off.
 */
bool journal_start(size_t entries);

/*
 * journal_start() has been called. CORE brackets what the program does:
 *	slot = journal_begin();
 *	p = real.malloc(size);
 *	if (p != NULL) journal_end(slot, JOURNAL_MALLOC, p, size, 0);
 * free(NULL) is not told. realloc(p, 0) that frees: POINTER NULL, size 0.
 * Inside the recorder nothing is.
 */
extern bool journal_on;
struct journal_slot journal_begin(void);
void journal_end(struct journal_slot slot, enum journal_op op,
    const void *pointer, uint64_t first, uint64_t second);

/* Write it to NAME and clear it; kept where that fails, which is said. */
void journal_write(const char *name);

/* By the options: to their file, at exit to that with the process's id. */
void journal_dump(void);
void journal_at_exit(void);

/* In the child after fork(). */
void journal_fork_child(void);

#endif
