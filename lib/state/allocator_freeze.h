/*
 * Stop the allocators of this process, and release them.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_ALLOCATOR_FREEZE_H
#define LIB_STATE_ALLOCATOR_FREEZE_H

#include "lib/state/image.h"

/* Find them: image->stop.heaps. Refuses heaps that cannot be read. */
enum mu_status mu_allocator_find(struct mu_image *image);

/*
 * MU_ERR_BUSY if one does not stop before the deadline. After the return,
 * threads have the time of the option max_pause, until image->stop.until_ns, to
 * stop.
 */
enum mu_status mu_allocator_freeze(struct mu_image *image);

/* Accepts a pass that froze nothing. */
void mu_allocator_thaw(struct mu_image *image);

#endif
