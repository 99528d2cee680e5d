/*
 * Malloc stops here and starts again here.
 *
 * glibc has no malloc_disable(). Holding every arena's mutex has its effect:
 * no thread changes a bin, a top or a heap; what the per-thread caches and the
 * lock-free fastbin pushes do meanwhile keeps the heap readable.
 *
 * Runs in: original. Uses no malloc, no errno, no libc lock of its own.
 */
#ifndef LIB_ALLOCATOR_FREEZE_H
#define LIB_ALLOCATOR_FREEZE_H

#include "lib/pass.h"

/*
 * Find the arenas and take their mutexes. MU_ERR_BUSY when one cannot be had
 * before the deadline: the calling thread interrupted malloc, or another holds
 * on to it. A heap that is not glibc's is refused.
 */
enum mu_status mu_allocator_freeze(struct mu_pass *pass);

/* Release them all. Accepts a pass that froze nothing. */
void mu_allocator_thaw(struct mu_pass *pass);

#endif
