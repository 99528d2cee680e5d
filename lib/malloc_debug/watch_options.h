/*
 * What the options want of signals.
 *
 * Runs in: the original, before main().
 */
#ifndef WATCH_OPTIONS_H
#define WATCH_OPTIONS_H

/* watch_signal_job() for each. */
void watch_options_jobs(void);

/* Under verbose: how to send them. */
void watch_options_hints(void);

#endif
