/*
 * The stop methods: threads are stopped by ptrace or, if that is refused, by a
 * signal; if that fails as well, nothing is checked. Snapshot and report are
 * the same with each method.
 */
#ifndef LIB_PASS_STOP_METHOD_H
#define LIB_PASS_STOP_METHOD_H

#include "lib/state/image.h"

/*
 * Take an image: on MU_OK image->sweeper.pid and image->stop.method are set. If
 * both methods are refused the first is the status, and the reason names both.
 *
 * Runs in: original, with signals blocked, once mu_allocator_find() has found
 * malloc. Malloc is frozen for as long as it takes, and may be so afterwards.
 */
enum mu_status mu_stop_method_run(struct mu_image *image);

#endif
