/*
 * Show files of recorders: heap dumps, differences between two of them, and
 * reports of LeakTracer.
 */
#ifndef LIB_VIEW_VIEW_H
#define LIB_VIEW_VIEW_H

#include <stdio.h>

#include "lib/cli/options.h"
#include "lib/term/style.h"
#include "lib/writers/exit_status.h"

/*
 * Show on OUT what OPTIONS ask for. Returns MU_EXIT_CLEAN; MU_EXIT_LEAKS for
 * LeakTracer's report; MU_EXIT_PARTIAL: WHY says what is missing;
 * MU_EXIT_UNCHECKED: WHY says why there is nothing.
 */
enum mu_exit mu_view(const struct mu_cli_options *options,
    const struct mu_style *style, FILE *out, struct mu_why *why);

#endif
