/*
 * Take the image in the calling thread, while the command that traces the
 * process keeps all other threads stopped (ptrace/live/halt.h).
 */
#ifndef LIB_PASS_HALTED_CAPTURE_H
#define LIB_PASS_HALTED_CAPTURE_H

#include "lib/state/image.h"

/* True if that command runs us. Runs in: original. */
bool mu_halted_is_possible(const struct mu_image *image);

/*
 * Have the threads stopped, start the sweeper and have them released:
 * image->sweeper.pid is set when this is MU_OK. Signals must be blocked.
 * MU_ERR_ALREADY_TRACED: the command cannot do it; no thread was stopped.
 * Runs in: original.
 */
enum mu_status mu_halted_capture(struct mu_image *image);

#endif
