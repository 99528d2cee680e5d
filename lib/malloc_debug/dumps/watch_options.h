/*
 * The signals that the options request.
 *
 * Runs in: the original, before main().
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_WATCH_OPTIONS_H
#define LIB_MALLOC_DEBUG_DUMPS_WATCH_OPTIONS_H

/* Call watch_signal_job() for each. */
void watch_options_jobs(void);

/* With verbose: print how to send them. */
void watch_options_hints(void);

#endif
