/*
 * Determine the mappings of the image.
 *
 * A fork copies all mappings except those with MADV_DONTFORK, so the sweeper
 * can read the list from /proc when the program runs again; that saves 0.4 us
 * per mapping during the stop. The kernel's count of mapped pages shows that
 * nothing was left out: fork() copies it and subtracts what it leaves out
 * (dup_mmap()).
 */
#ifndef LIB_HELPERS_IMAGE_H
#define LIB_HELPERS_IMAGE_H

#include "lib/state/image.h"

/*
 * Called right before the fork: note how much is mapped; or read the mappings,
 * if the original needs them too, this pass has found memory that a fork leaves
 * out, or the count is not known.
 *
 * Runs in: collector; original.
 */
enum mu_status mu_image_note(struct mu_image *image);

/*
 * Read the mappings into image->snap, unless they are there. MU_ERR_TIMEOUT:
 * the image does not have all of them; another try will.
 *
 * Runs in: sweeper, before it maps anything.
 */
enum mu_status mu_image_read(struct mu_image *image);

#endif
