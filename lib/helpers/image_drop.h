/*
 * Free the memory of an image with all workers.
 *
 * An exit frees it as well, but in one thread, and the caller waits for that:
 * 35 ms per gigabyte of 4 KiB pages, 15 with two threads (2 cores Xeon, kernel
 * 6.18).
 *
 * Runs in: sweeper.
 */
#ifndef LIB_HELPERS_IMAGE_DROP_H
#define LIB_HELPERS_IMAGE_DROP_H

#include "heapwalk/heaps/blocks.h"
#include "lib/state/image.h"

/*
 * The last step before the exit: unmap the memory of PASS's snapshot. Only our
 * own memory can be used afterwards.
 */
void mu_image_drop(const struct mu_image *image);

/*
 * Unmap only the blocks of the heap, before the exit: any later read is killed
 * by SIGSEGV. The subject's writes to these pages need no copy any more.
 */
void mu_image_drop_heap(
    const struct mu_image *image, const struct mu_blocks *blocks);

/*
 * From now on the signal MU_SWEEPER_DROP makes this process unmap the image and
 * exit. PASS must stay valid.
 */
void mu_image_drop_on_signal(const struct mu_image *image);

#endif
