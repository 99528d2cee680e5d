/*
 * Stop malloc, and start it again.
 *
 * glibc has no malloc_disable(). Holding the mutex of every arena has the same
 * effect: no thread changes a bin, a top or a heap; the per-thread caches and
 * lock-free pushes to fastbins, which may go on, keep the heap readable.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_ALLOCATOR_FREEZE_H
#define LIB_STATE_ALLOCATOR_FREEZE_H

#include "lib/pass/pass.h"

/* Find the arenas. Refuses a heap that is not glibc's. */
enum mu_status mu_allocator_find(struct mu_pass *pass);

/*
 * Take the mutexes of the arenas that were found, and of those that they lead
 * to. MU_ERR_BUSY if one cannot be taken before the deadline: the calling
 * thread interrupted malloc, or another thread keeps holding it. After the
 * return, threads have the time of the option max_pause, until pass->stop_ns,
 * to stop.
 */
enum mu_status mu_allocator_freeze(struct mu_pass *pass);

/* Release them all. Accepts a pass that froze nothing. */
void mu_allocator_thaw(struct mu_pass *pass);

#endif
