/*
 * Find out which malloc the program calls.
 *
 * If the name leads to an object other than libc, that may be an allocator, or
 * a function that counts or traces and passes the call on. To test this, a few
 * blocks are allocated and kept, and a pass checks whether they are in glibc's
 * heap. The constructor does it, when no thread is inside malloc, and only if
 * the name leads elsewhere.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_MALLOC_PROBE_H
#define LIB_STATE_MALLOC_PROBE_H

#include "heapwalk/subject/snapshot.h"

#define MU_PROBES 3

struct mu_malloc_probe {
	/* In plain form, so that other leak checkers see them, too. */
	uintptr_t blocks[MU_PROBES];
	bool tried;
};

/* The address to which the name malloc leads. */
uintptr_t mu_malloc_address(void);

/* Call in the constructor. Calls malloc. */
void mu_malloc_probe_try(struct mu_malloc_probe *probe);

/* Store the results in SNAP. PROBE must live as long as SNAP. */
void mu_malloc_probe_store(
    const struct mu_malloc_probe *probe, struct mu_snapshot *snap);

#endif
