/* The free chunks in the threads' tcaches. */
#ifndef HEAPWALK_HEAPS_GLIBC_TCACHE_H
#define HEAPWALK_HEAPS_GLIBC_TCACHE_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Find every thread's tcache, and remove it and its entries from the live
 * blocks. Call after the fastbins and the search for mmapped chunks.
 */
enum mu_status mu_glibc_tcaches_take(struct mu_glibc_walk *walk);

/* Result of a check. */
struct mu_glibc_tcache {
	size_t entries;   /* number of chunks in its lists */
	size_t off;       /* bins whose count is wrong by one */
	const char *rule; /* rule that it breaks, or NULL */
	size_t bin;       /* bin in which the rule is broken */
};

/* Prefetch what the next two functions read first of the block at ADDRESS. */
void mu_glibc_tcache_expect(
    const struct mu_glibc_walk *walk, uintptr_t address);

/*
 * True if the block at ADDRESS may be a tcache_perthread_struct. Cheap: a chunk
 * in use, of the right size.
 */
bool mu_glibc_tcache_plausible(
    const struct mu_glibc_walk *walk, uintptr_t address);

/*
 * Follow its lists. With COUNTED the counts must agree, except for one of a
 * thread that was stopped inside tcache_put() or tcache_get(). The counts of a
 * thread that is ending are stale.
 */
void mu_glibc_tcache_check(const struct mu_glibc_walk *walk, uintptr_t address,
    bool counted, struct mu_glibc_tcache *result);

/*
 * The thread at thread pointer TP has its tcache at TCACHE, with OFF counts
 * that are wrong by one. Returns NULL if that is possible, or the broken rule.
 */
const char *mu_glibc_tcache_off_rule(const struct mu_glibc_walk *walk,
    uintptr_t tp, uintptr_t tcache, size_t off);

/* Clear the start bits of its chunks. */
enum mu_status mu_glibc_tcache_take(
    struct mu_glibc_walk *walk, uintptr_t address);

/*
 * Record that the walk found a block in use, at ADDRESS, of the size of a
 * tcache.
 */
void mu_glibc_orphan_add(struct mu_glibc_walk *walk, uintptr_t address);

/*
 * Take tcaches whose thread is gone. A thread that ends first clears its tcache
 * pointer and then empties the tcache, which takes arena locks, so it may have
 * been stopped there. And a child of fork() inherits the tcaches of all its
 * parent's threads. Their chunks are free, but no search for pointers would
 * find the lists. Unless EXPECTED, finding one is an error: a thread's tcache
 * was missed. TLS_OFFSET is that of the variable; 0 if it was not found.
 */
enum mu_status mu_glibc_orphans_take(
    struct mu_glibc_walk *walk, bool expected, size_t tls_offset);

#endif
