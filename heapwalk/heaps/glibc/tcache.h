/*
 * The free chunks that each thread keeps for itself.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_TCACHE_H
#define HEAPWALK_HEAPS_GLIBC_TCACHE_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Find every thread's tcache, and take it and what it holds out of the live
 * blocks. After the fastbins and the search for mmapped chunks.
 */
enum mu_status mu_glibc_tcaches_take(struct mu_glibc_walk *walk);

/* What a validation came to. */
struct mu_glibc_tcache {
	size_t entries;   /* chunks that it holds */
	size_t off;       /* bins that have one more or fewer than they say */
	const char *rule; /* that it breaks, or NULL */
	size_t bin;       /* where */
};

/*
 * Is the block at ADDRESS a tcache_perthread_struct? Cheap: a chunk in use, of
 * the right size.
 */
bool mu_glibc_tcache_plausible(
    const struct mu_glibc_walk *walk, uintptr_t address);

/*
 * Follow its lists. COUNTED: the counts must agree, but for the one of a
 * thread that was stopped inside tcache_put() or tcache_get(); the counts of a
 * thread that is ending are stale.
 */
void mu_glibc_tcache_check(const struct mu_glibc_walk *walk, uintptr_t address,
    bool counted, struct mu_glibc_tcache *result);

/*
 * The thread at thread pointer TP has its tcache at TCACHE, of which OFF counts
 * differ from their lists by one: can that be? NULL, or the rule broken.
 */
const char *mu_glibc_tcache_off_rule(const struct mu_glibc_walk *walk,
    uintptr_t tp, uintptr_t tcache, size_t off);

/* Clear the start bits. */
enum mu_status mu_glibc_tcache_take(
    struct mu_glibc_walk *walk, uintptr_t address);

/* The walk has met a block in use, at ADDRESS, of the size of a tcache. */
void mu_glibc_orphan_add(struct mu_glibc_walk *walk, uintptr_t address);

/*
 * A thread that ends first clears its tcache pointer and then empties the
 * tcache, which takes arena locks: it may have been stopped at one. And a child
 * of fork() inherits the tcaches of all its parent's threads. Their chunks are
 * free, and linked where no scan for pointers follows: take them. If none is
 * EXPECTED, finding one is an error: a thread's tcache was missed. TLS_OFFSET
 * of the variable; 0: it was not found.
 */
enum mu_status mu_glibc_orphans_take(
    struct mu_glibc_walk *walk, bool expected, size_t tls_offset);

#endif
