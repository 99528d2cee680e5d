/*
 * A system call that takes about a second, uses a CPU for all of it, and that
 * no signal ends but SIGKILL.
 */
#ifndef TESTS_SUPPORT_STOP_LONG_CALL_H
#define TESTS_SUPPORT_STOP_LONG_CALL_H

#include <stdbool.h>

/* False: it is refused. For one thread at a time. */
bool long_call(void);

#endif
