/*
 * The command's exit status, for scripts.
 *
 * Pure.
 *
 * Runs in: original, command.
 */
#ifndef LIB_WRITERS_EXIT_STATUS_H
#define LIB_WRITERS_EXIT_STATUS_H

#include <stdbool.h>

#include "memunreachable/memunreachable.h"

enum mu_exit {
	MU_EXIT_CLEAN = 0,
	MU_EXIT_USAGE = 2,
	MU_EXIT_UNCHECKED = 3,
	MU_EXIT_PARTIAL = 4, /* an answer, with or without leaks */
	MU_EXIT_LEAKS = 23,  /* LeakSanitizer's value */
};

/* True if the heap was checked at all. */
static inline bool
mu_exit_checked(const struct UnreachableMemoryInfo *info)
{
	return info->status == MEMUNREACHABLE_COMPLETE ||
	    info->status == MEMUNREACHABLE_PARTIAL;
}

/*
 * The exit status for the result INFO of a check. KNOWN: all that was lost is
 * known.
 */
enum mu_exit mu_exit_status(
    const struct UnreachableMemoryInfo *info, bool known);

#endif
