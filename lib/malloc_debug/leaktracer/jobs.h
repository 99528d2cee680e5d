/*
 * LeakTracer's signals.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_JOBS_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_JOBS_H

struct leaktracer_report;

/* Set up the signals of the settings; call before watch_start(). */
void leaktracer_jobs(void);

/* Write to NAME; in a child after fork() to NAME.<pid>. */
void leaktracer_write(const struct leaktracer_report *report, const char *name);

#endif
