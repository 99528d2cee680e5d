/*
 * The mappings of the image, and how they are determined.
 *
 * A fork copies them one by one but for those under MADV_DONTFORK, so the
 * sweeper can read the list from /proc when the program runs again: 0.4 us a
 * mapping that need not be spent while it stands still. That nothing was left
 * out the kernel's own sum of mapped pages tells, which fork() takes over and
 * from which it subtracts what it leaves out (dup_mmap()).
 */
#ifndef LIB_HELPERS_IMAGE_H
#define LIB_HELPERS_IMAGE_H

#include "lib/state/image.h"

/*
 * The last thing before the fork: note how much is mapped; or read the
 * mappings, where the original needs them too, or this pass has met memory that
 * a fork leaves out, or nothing is known of it.
 *
 * Runs in: collector; original.
 */
enum mu_status mu_image_note(struct mu_image *image);

/*
 * The mappings into image->snap, if they are not there yet. MU_ERR_TIMEOUT: not
 * all of them are in the image, the next try will do better.
 *
 * Runs in: sweeper, before it maps anything.
 */
enum mu_status mu_image_read(struct mu_image *image);

#endif
