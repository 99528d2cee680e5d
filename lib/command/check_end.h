/*
 * The check of a process that has reached its end and stands still there: all
 * of its threads are in the stop that PTRACE_O_TRACEEXIT makes, the memory is
 * whole (Linux: do_exit() stops there before exit_mm()).
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_CHECK_END_H
#define LIB_COMMAND_CHECK_END_H

#include "lib/check/check.h"
#include "ptrace/live/threads.h"

/*
 * As mu_check_process(), of the process that check->pid is, with STOPPED: its
 * threads, all of which this thread traces and holds. MISSED: so many others
 * were not seen to stop, and the answer is partial.
 */
enum mu_status mu_check_end(const struct mu_check *check,
    const struct mu_threads *stopped, size_t missed, struct mu_report *answer);

/*
 * Find the names of ANSWER's addresses in the process answer->pid, which stands
 * still.
 */
void mu_check_end_name(const struct mu_check *check,
    const struct mu_threads *stopped, struct mu_report *answer);

#endif
