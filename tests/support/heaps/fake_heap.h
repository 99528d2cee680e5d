/*
 * A heap made by a test: blocks in a separate pool, listed one by one or as
 * glibc-like chunks of one span.
 */
#ifndef TESTS_SUPPORT_HEAPS_FAKE_HEAP_H
#define TESTS_SUPPORT_HEAPS_FAKE_HEAP_H

#include <check.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "heapwalk/heaps/glibc/glibc.h"
#include "heapwalk/roots/roots.h"
#include "mu/sys.h"

enum fake_kind { FAKE_LISTED, FAKE_SPAN, FAKE_KINDS };

#define FAKE_NO_DEADLINE UINT64_MAX
#define FAKE_MIN_CHUNK 32

/*
 * Add a block of SIZE usable bytes, which ends span->tail bytes before a
 * multiple of MU_GRAIN and overlaps no other.
 */
void fake_set(struct mu_span *span, uintptr_t address, size_t size);

struct fake_heap {
	enum fake_kind kind;
	struct mu_arena arena;
	struct mu_blocks blocks;
	struct mu_glibc glibc; /* with bins, if the test sets some */
	struct mu_heap_member member;
	char *pool;
	size_t size, used;
};

void fake_heap_open(struct fake_heap *heap, enum fake_kind kind, size_t size);
void fake_heap_close(struct fake_heap *heap);

/* Usable bytes of a block that was made for SIZE. */
size_t fake_usable(const struct fake_heap *heap, size_t size);

/* A live block; KEEP only if it is a listed one. */
void *fake_block(struct fake_heap *heap, size_t size, bool keep);

void fake_heap_seal(struct fake_heap *heap);
bool fake_marked(const struct fake_heap *heap, const void *block);

/* Run BODY on a stack as small as the sweeper's. */
void on_small_stack(void *(*body)(void *), void *ctx);

#endif
