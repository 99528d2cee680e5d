/*
 * The signals that the options request.
 *
 * Runs in: the original, before main().
 */
#ifndef WATCH_OPTIONS_H
#define WATCH_OPTIONS_H

/* Call watch_signal_job() for each. */
void watch_options_jobs(void);

/* With verbose: print how to send them. */
void watch_options_hints(void);

#endif
