/*
 * The second process: it shares the program's memory, stops its threads, starts
 * the sweeper, and continues the threads.
 */
#ifndef LIB_HELPERS_COLLECTOR_H
#define LIB_HELPERS_COLLECTOR_H

#include "lib/state/image.h"

/*
 * Start the collector and wait for its end. On MU_OK every thread is released
 * and image->sweeper.pid is set; after a failure there is no sweeper.
 *
 * Runs in: original.
 */
enum mu_status mu_collector_run(struct mu_image *image);

#endif
