/* The result of a pass, in the fields of the answer and as text. */
#ifndef LIB_PASS_INFO_H
#define LIB_PASS_INFO_H

#include "lib/pass/pass.h"

/*
 * Fill the rest of INFO, whose numbers and leaks have been received, and write
 * the log. Runs in: original.
 */
void mu_info_fill(struct mu_pass *pass, enum mu_status status,
    struct UnreachableMemoryInfo *info);

#endif
