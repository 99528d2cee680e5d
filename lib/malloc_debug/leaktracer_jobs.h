/*
 * What LeakTracer does at signals.
 *
 * Runs in: the original.
 */
#ifndef DEBUG_LEAKTRACER_JOBS_H
#define DEBUG_LEAKTRACER_JOBS_H

struct leaktracer_report;

/* As the settings say; before watch_start(). */
void leaktracer_jobs(void);

/* Into NAME; in a child after fork() into NAME.<pid>. */
void leaktracer_write(const struct leaktracer_report *report, const char *name);

#endif
