/*
 * Write the entries of an answer to the log of a pass: as text, symbolized by
 * the command if wanted, or as records for the command.
 */
#ifndef LIB_PASS_LOG_LEAKS_H
#define LIB_PASS_LOG_LEAKS_H

#include "lib/pass/pass.h"

/* Log pass->result.entries, those of INFO. Runs in: original. */
void mu_log_leaks(
    const struct mu_pass *pass, const struct UnreachableMemoryInfo *info);

#endif
