/*
 * The end of an image: all workers unmap its pages at once.
 *
 * An exit does that as well, but one thread alone, and who asked waits for it:
 * 35 ms a gigabyte of 4 KiB pages, 15 by two threads (2 cores Xeon, kernel
 * 6.18).
 *
 * Runs in: sweeper.
 */
#ifndef LIB_HELPERS_IMAGE_DROP_H
#define LIB_HELPERS_IMAGE_DROP_H

#include "heapwalk/heaps/blocks.h"
#include "lib/state/image.h"

/*
 * The last step before the exit: unmap the memory of PASS's snapshot; only our
 * own memory can be used afterwards.
 */
void mu_image_drop(const struct mu_image *image);

/*
 * The same of the blocks of the heap alone, before the exit: they are not read
 * any more, and who does is killed by SIGSEGV. The subject's writes to these
 * pages are not slowed down any more.
 */
void mu_image_drop_heap(
    const struct mu_image *image, const struct mu_blocks *blocks);

/*
 * From now on the signal MU_SWEEPER_DROP makes this process unmap the image and
 * end. PASS must stay.
 */
void mu_image_drop_on_signal(const struct mu_image *image);

#endif
