/*
 * Take the image in the calling thread, while the command that traces the
 * process keeps all other threads stopped (ptrace/live/tracer_stop.h).
 */
#ifndef LIB_PASS_TRACER_CAPTURE_H
#define LIB_PASS_TRACER_CAPTURE_H

#include "lib/state/image.h"

/*
 * Have the threads stopped, start the sweeper and, unless image->stop.hold,
 * have them released:
 * image->sweeper.pid is set when this is MU_OK. Signals must be blocked.
 * MU_ERR_ALREADY_TRACED: the command cannot do it; no thread was stopped.
 * Runs in: original.
 */
enum mu_status mu_tracer_capture(struct mu_image *image);

/*
 * Release threads that image->stop.hold has left stopped. Does nothing if there
 * are none. Runs in: original.
 */
void mu_tracer_capture_end(struct mu_image *image);

#endif
