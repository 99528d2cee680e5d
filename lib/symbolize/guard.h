/*
 * Work on files of the subject that may fault. elfutils does not check
 * everything it reads: 0.188 reads past the end of a damaged .debug_line_str,
 * and asserts elsewhere; a debug file that is truncated while it is mapped
 * causes SIGBUS. A missing name must not cost the report.
 */
#ifndef SYMBOLIZE_GUARD_H
#define SYMBOLIZE_GUARD_H

#include <stdbool.h>

/*
 * Do WORK. Returns false if it faulted and was abandoned; do not use or free
 * its data then. Replaces the handlers of SIGSEGV, SIGBUS, SIGFPE and SIGABRT
 * during that time. Do not nest.
 */
bool mu_guarded(void (*work)(void *ctx), void *ctx);

/*
 * Install the handlers for good: to replace them for each of many questions is
 * a quarter of the CPU time that these take. For a process that handles none of
 * these signals otherwise; without work they end it.
 */
void mu_guard_stay(void);

#endif
