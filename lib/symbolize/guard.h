/*
 * Work on files of the subject that may end in a fault.
 *
 * elfutils checks what it reads, but not everywhere: 0.188 looks for the end of
 * a damaged .debug_line_str behind that section, and asserts elsewhere; and a
 * debug file that is cut short while it is mapped gives SIGBUS. A name is not
 * worth the report.
 */
#ifndef SYMBOLIZE_GUARD_H
#define SYMBOLIZE_GUARD_H

#include <stdbool.h>

/*
 * Do WORK. False: it faulted, and was left where it was; what it used is not to
 * be used again, nor freed. Other handlers of SIGSEGV, SIGBUS, SIGFPE and
 * SIGABRT are out of force meanwhile. Not to be nested.
 */
bool mu_guarded(void (*work)(void *ctx), void *ctx);

#endif
