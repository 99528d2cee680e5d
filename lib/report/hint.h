/*
 * How to record the stacks of lost blocks, for a report without stacks.
 *
 * Runs in: any. Pure.
 */
#ifndef LIB_REPORT_HINT_H
#define LIB_REPORT_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "memunreachable/memunreachable.h"
#include "mu/text.h"

struct mu_entries;

/* How a line of the library's log begins that has such words. */
#define MU_HINT_BEGIN "no stacks were recorded: "

/*
 * The sizes that ENTRIES, of INFO, may have been asked for with, from *LEAST
 * to *MOST. False: there are no entries, or stacks were recorded.
 */
bool mu_hint_sizes(const struct UnreachableMemoryInfo *info,
    const struct mu_entries *entries, size_t *least, size_t *most);

/* In the words of the recorder's environment; no newline. */
void mu_hint_environment(struct mu_text *out, size_t least, size_t most);

/* In those of the command; no newline. */
void mu_hint_command(struct mu_text *out, size_t least, size_t most);

#endif
