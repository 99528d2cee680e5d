/*
 * A small program of one thread is searched where it is, without an image of
 * it: to make, touch and give back an image takes longer than the search.
 */
#ifndef LIB_PASS_IN_PLACE_H
#define LIB_PASS_IN_PLACE_H

#include "lib/state/image.h"

/*
 * True: the search is over, image->sweeper.pid is about to send its answer,
 * which is complete, and image->stop.method is set. False: it was not tried, or
 * an image is needed; all is as before.
 *
 * Runs in: original, with signals blocked, once mu_allocator_find() has found
 * malloc and image->stack is mapped. Malloc is not frozen afterwards.
 */
bool mu_in_place_try(struct mu_image *image);

#endif
