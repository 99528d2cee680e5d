/*
 * --diff of saved looks and reports in JSON: groups that came, grew, shrank and
 * went, of what was lost and of what lives.
 */
#ifndef LIB_COMPARE_COMPARE_H
#define LIB_COMPARE_COMPARE_H

#include <stdio.h>

#include "lib/compare/past.h"
#include "lib/term/style.h"

/*
 * Write to OUT how the files at PATHS, the earlier one first, differ, LIMIT
 * groups of each kind; looks are read as CHECK says. MU_PARTIAL with WHY: not
 * all groups are known. Any other status but MU_OK: nothing was written.
 */
enum mu_status mu_compare(const char *const *paths, size_t limit,
    const struct mu_check *check, const struct mu_style *style, FILE *out,
    struct mu_why *why);

#endif
