/*
 * What a look at a running process may have missed: memory that a copy does not
 * have, alternate signal stacks, a thread that no stop reaches, a process that
 * shares the memory, a program that has not started yet. Each makes the answer
 * partial, or requires another look.
 */
#ifndef LIB_CHECK_PROCESS_GAPS_H
#define LIB_CHECK_PROCESS_GAPS_H

#include "lib/check/process.h"

/* Call after the search, while its memory can be read. */
void mu_process_gaps_note(
    struct mu_process *process, struct mu_check_look *look);

/*
 * Call when the process is released: looks for a thread that was not stopped,
 * and for another process that shares its memory or has some of it.
 */
void mu_process_gaps_others(
    const struct mu_process *process, struct mu_check_look *look);

/*
 * True if LOOK, which found leaks, is known to have missed references; WHY says
 * which.
 */
bool mu_process_gaps_doubt(const struct mu_process *process,
    const struct mu_check_look *look, struct mu_why *why);

#endif
