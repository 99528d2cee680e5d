/*
 * Take the image in the calling thread while all others wait in a signal
 * handler: used if ptrace is refused.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_SIGNAL_CAPTURE_H
#define LIB_PASS_SIGNAL_CAPTURE_H

#include "lib/state/image.h"

/*
 * Stop the threads, start the sweeper and release the threads:
 * image->sweeper.pid is set when this is MU_OK. Signals must be blocked. Runs
 * in: original.
 */
enum mu_status mu_signal_capture(struct mu_image *image);

#endif
