/*
 * The second process: it shares the program's memory, stops its threads, starts
 * the sweeper, and continues the threads.
 */
#ifndef LIB_COLLECTOR_H
#define LIB_COLLECTOR_H

#include "lib/pass.h"

/*
 * Start the collector and wait until it is gone. Every thread is released and
 * pass->sweeper is set when this is MU_OK; on a failure no sweeper is left.
 *
 * Runs in: original.
 */
enum mu_status mu_collector_run(struct mu_pass *pass);

#endif
