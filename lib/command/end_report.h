/*
 * The result for a process of a COMMAND at its end: what its library found at
 * exit() or, if it did not get that far, what we find ourselves.
 */
#ifndef LIB_COMMAND_END_REPORT_H
#define LIB_COMMAND_END_REPORT_H

#include "lib/check/check.h"
#include "lib/command/known_functions.h"
#include "ptrace/live/threads.h"

/*
 * Fill ANSWER, as mu_check_end() does, for the process of STOPPED. PATH is the
 * library's option answer_path; the file of this process is removed.
 */
void mu_command_end_report(const struct mu_check *check, const char *path,
    const struct mu_threads *stopped, size_t missed,
    struct mu_known_functions *known, struct mu_report *answer);

/* Remove the file that PID wrote before it executed another program. */
void mu_command_end_report_drop(const char *path, pid_t pid);

#endif
