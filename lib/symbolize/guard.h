/*
 * Work on files of the subject that may fault. elfutils does not check
 * everything it reads: 0.188 searches the end of a damaged .debug_line_str past
 * that section, and asserts elsewhere; a debug file that is truncated while it
 * is mapped gives SIGBUS. A missing name must not cost the report.
 */
#ifndef SYMBOLIZE_GUARD_H
#define SYMBOLIZE_GUARD_H

#include <stdbool.h>

/*
 * Do WORK. False: it faulted and was abandoned; do not use or free its data.
 * Other handlers of SIGSEGV, SIGBUS, SIGFPE and SIGABRT are replaced during
 * that. Do not nest.
 */
bool mu_guarded(void (*work)(void *ctx), void *ctx);

#endif
