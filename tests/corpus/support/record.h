/* The record of live blocks: recorder.c fills it, ask.c reads it. */
#ifndef TESTS_CORPUS_RECORD_H
#define TESTS_CORPUS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifndef RECORD_SLOTS
#define RECORD_SLOTS ((size_t)1 << 16) /* a power of two */
#endif

struct record {
	uintptr_t hidden; /* ~address, 0: no block */
	size_t size;      /* as asked for */
	const char *name; /* of what is lost, NULL: it is not */
	unsigned ordinal; /* of the block in its scope */
	uintptr_t caller; /* ~return address */
};

extern struct record *record_table;

void record_prepare(void);

/* BLOCK (NULL is passed on) with the scope of this thread: returns it. */
void *record_add(void *block, size_t size, uintptr_t caller);

/* NULL, and what is not recorded, is ignored. */
void record_remove(const void *block);

/* NULL if no live block begins there. */
struct record *record_find(uintptr_t address);

#endif
