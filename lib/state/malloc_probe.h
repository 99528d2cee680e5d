/*
 * Find out whose malloc the program calls.
 *
 * If the name leads to an object other than libc, that may be an allocator, or
 * a function that counts or traces and passes the call on. This is tested: a
 * few blocks are allocated and kept, and a pass looks whether they are in
 * glibc's heap. Done by the constructor, when no thread is inside malloc, and
 * only if the name leads elsewhere: most programs never pay for it.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_MALLOC_PROBE_H
#define LIB_STATE_MALLOC_PROBE_H

#include "heapwalk/subject/snapshot.h"

#define MU_PROBES 3

struct mu_malloc_probe {
	/* In plain sight: other tools' leak checks must see them, too. */
	uintptr_t blocks[MU_PROBES];
	bool tried;
};

/* What the name leads to. */
uintptr_t mu_malloc_address(void);

/* In the constructor. Calls malloc. */
void mu_malloc_probe_try(struct mu_malloc_probe *probe);

/* What SNAP is to know of it; PROBE lasts as long as SNAP. */
void mu_malloc_probe_tell(
    const struct mu_malloc_probe *probe, struct mu_snapshot *snap);

#endif
