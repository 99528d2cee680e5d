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

/* Beginning of the library's log line with the advice. */
#define MU_HINT_BEGIN "no stacks were recorded: "

/*
 * The range of requested sizes, *LEAST to *MOST, that the ENTRIES of INFO may
 * have. Returns false if there are no entries, or stacks were recorded.
 */
bool mu_hint_sizes(const struct UnreachableMemoryInfo *info,
    const struct mu_entries *entries, size_t *least, size_t *most);

/* In terms of the recorder's environment variables; no newline. */
void mu_hint_environment(struct mu_text *out, size_t least, size_t most);

/* In terms of the command's options; no newline. */
void mu_hint_command(struct mu_text *out, size_t least, size_t most);

#endif
