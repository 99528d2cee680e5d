/*
 * Another check of the same process: of another command, or of the process
 * itself.
 */
#ifndef LIB_CHECK_OTHER_CHECK_H
#define LIB_CHECK_OTHER_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Wait until no helper of another check traces a thread of process PID: it ends
 * by itself, on a busy machine after seconds. Returns false at DEADLINE_NS
 * (CLOCK_MONOTONIC), or if another program traces it.
 */
bool mu_other_check_await(pid_t pid, uint64_t deadline_ns);

#endif
