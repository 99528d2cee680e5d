/*
 * Search a small heap in the asking thread itself: to start a process for it,
 * and to see that it has ended, takes as long as the search.
 */
#ifndef LIB_PASS_IN_THREAD_H
#define LIB_PASS_IN_THREAD_H

#include "lib/state/image.h"

/*
 * Returns true if the search is done: its answer is in the pipe, complete, and
 * image->stop.method is set. False: it was not tried, or another way is needed;
 * image->snap has not changed then.
 *
 * Runs in: original, as mu_in_place_try(), but image->stack is not needed.
 */
bool mu_in_thread_try(struct mu_image *image);

#endif
