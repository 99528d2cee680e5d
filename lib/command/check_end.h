/*
 * Check a process that has reached its end: all of its threads are in the stop
 * of PTRACE_O_TRACEEXIT, in which the memory is still whole (do_exit() stops
 * there before exit_mm()).
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_CHECK_END_H
#define LIB_COMMAND_CHECK_END_H

#include "lib/check/check.h"
#include "lib/command/known_functions.h"
#include "ptrace/live/threads.h"

/*
 * Like mu_check_process(), for process check->pid. STOPPED has its threads, all
 * of which this thread traces and holds. MISSED is the number of others that
 * did not stop; the answer is then partial. KNOWN has what earlier ends taught.
 */
enum mu_status mu_check_end(const struct mu_check *check,
    const struct mu_threads *stopped, size_t missed,
    struct mu_known_functions *known, struct mu_report *answer);

/*
 * Find the names of ANSWER's addresses in the process answer->pid, which is
 * stopped.
 */
void mu_check_end_name(const struct mu_check *check,
    const struct mu_threads *stopped, struct mu_report *answer);

#endif
