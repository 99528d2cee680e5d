/*
 * Damage a heap one word at a time. A forked child damages its heap, reads it,
 * and sends the result; it allocates nothing after the damage.
 */
#ifndef TESTS_SUPPORT_HEAPS_DAMAGED_HEAP_H
#define TESTS_SUPPORT_HEAPS_DAMAGED_HEAP_H

#include <check.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "heapwalk/heaps/table/table.h"
#include "tests/support/heaps/self_snapshot.h"
#define TWO 840 /* no other code requests chunks of that size */

/* What a test damages. */
struct damaged {
	struct mu_glibc glibc;
	char *used, *next; /* neighbours, in use */
	char *large[2];    /* free, in a bin */
	char *small[3];    /* free, in a fastbin (if there are any); the last is
			      its head */
	char *cached;      /* free, in the tcache */
	char *mmapped;
	char *other;  /* in use, of another arena */
	char *tcache; /* the struct */
	char *two[2]; /* in it, a list of their own; the last is its head */
};

struct answer {
	enum mu_status status;
	struct mu_why why;
	size_t count, kept;
	unsigned inferred_from;
};

extern struct damaged subject;

size_t *word_of(uintptr_t address);

/* The size word of the chunk that BLOCK is in. */
size_t *damaged_size_of(char *block);

size_t *arena_word(size_t offset);
void damaged_setup(void);
void read_heap(struct self_snapshot *self, struct answer *answer);

/* What a child says that did DAMAGE and then read itself. */
struct answer damaged_ask(
    void (*damage)(void), void (*twist)(struct self_snapshot *));

void refused(void (*damage)(void), const char *words);

/* A link of a free list, as it is kept at FIELD. */
uintptr_t mangle(void *field, uintptr_t value);

#endif
