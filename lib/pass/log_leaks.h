/*
 * The entries of an answer in the log of a pass: as text, with names by the
 * command if that is asked for, or as records for the command.
 */
#ifndef LIB_PASS_LOG_LEAKS_H
#define LIB_PASS_LOG_LEAKS_H

#include "lib/pass/pass.h"

/* Log pass->result.entries, those of INFO. Runs in: original. */
void mu_log_leaks(
    const struct mu_pass *pass, const struct UnreachableMemoryInfo *info);

#endif
