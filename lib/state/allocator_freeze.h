/*
 * Stop the allocators of this process, and start them again.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_ALLOCATOR_FREEZE_H
#define LIB_STATE_ALLOCATOR_FREEZE_H

#include "lib/pass/pass.h"

/* Find them: pass->heaps. Refuses heaps that cannot be read. */
enum mu_status mu_allocator_find(struct mu_pass *pass);

/*
 * MU_ERR_BUSY if one does not stop before the deadline. After the return,
 * threads have the time of the option max_pause, until pass->stop_ns, to stop.
 */
enum mu_status mu_allocator_freeze(struct mu_pass *pass);

/* Accepts a pass that froze nothing. */
void mu_allocator_thaw(struct mu_pass *pass);

#endif
