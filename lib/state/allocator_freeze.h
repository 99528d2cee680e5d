/*
 * Stop the allocators of this process, and release them.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_ALLOCATOR_FREEZE_H
#define LIB_STATE_ALLOCATOR_FREEZE_H

#include "lib/state/image.h"

/* Find the allocators: image->stop.heaps. Refuses heaps that cannot be read. */
enum mu_status mu_allocator_find(struct mu_image *image);

/*
 * MU_ERR_BUSY if an allocator does not stop before the deadline. On return,
 * image->stop.until_ns is set to when the threads must have stopped, by the
 * option max_pause.
 */
enum mu_status mu_allocator_freeze(struct mu_image *image);

/* Accepts a pass that froze nothing. */
void mu_allocator_thaw(struct mu_image *image);

#endif
