/*
 * Start the sweeper from the calling thread while all others are stopped, if
 * there is no collector.
 */
#ifndef LIB_PASS_OWN_IMAGE_H
#define LIB_PASS_OWN_IMAGE_H

#include "lib/state/image.h"

/*
 * Find out if there is room for an image. MU_OK: image->sweeper.has_room is
 * set. image->sweeper.budget has been described. Runs in: original.
 */
enum mu_status mu_own_image_find_room(struct mu_image *image);

/*
 * The same for a search in place of a small heap, which takes some 100 KiB.
 * What an earlier pass has seen counts until the watch of an image would look
 * again (lib/state/copy_budget.h); nothing is opened then. False: there is no
 * room, or little. Runs in: original.
 */
bool mu_own_image_may_begin(struct mu_image *image);

/*
 * Note the mappings and start the sweeper: image->sweeper.pid is set when this
 * is MU_OK. image->snap has the threads. Signals are blocked. Runs in:
 * original.
 */
enum mu_status mu_own_image_take(struct mu_image *image);

/*
 * Called after the threads were released: close what mu_gap_sync_prepare()
 * opened.
 */
void mu_own_image_close(struct mu_image *image);

#endif
