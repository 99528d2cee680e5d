/*
 * Leaks in words: Android's report text.
 *
 * Runs in: original. Pieces of text are added to OUT.
 */
#ifndef LIB_REPORT_TEXT_H
#define LIB_REPORT_TEXT_H

#include <stdbool.h>

#include "lib/report/frame_text.h"
#include "memunreachable/memunreachable.h"
#include "mu/text.h"

struct mu_entries;

/* One leak block without its frames: 700 bytes at most. */
void mu_report_block(
    struct mu_text *out, const struct Leak *leak, bool log_contents);

/* One leak block, without the empty line after it. NAMES are for its frames. */
void mu_report_leak(struct mu_text *out, const struct Leak *leak,
    bool log_contents, struct mu_frame_names *names);

/* Behind the frames: that there are more. Nothing where there are not. */
void mu_report_cut(struct mu_text *out, const struct LeakBacktrace *backtrace);

/*
 * Whether LEAK has no stack only because few blocks have one. Such entries are
 * not shown one by one; mu_report_rest() adds them up.
 */
bool mu_report_is_unsampled(
    const struct UnreachableMemoryInfo *info, const struct Leak *leak);

/*
 * What ENTRIES, of INFO, do not show: how many more there are, and that
 * several of them count the same blocks. One line each, indented by two; none
 * where there is nothing to say.
 */
void mu_report_rest(struct mu_text *out,
    const struct UnreachableMemoryInfo *info, const struct mu_entries *entries);

/* The whole report: totals, ABI line, every leak block, the rest. */
void mu_report_text(struct mu_text *out,
    const struct UnreachableMemoryInfo *info, const struct mu_entries *entries,
    bool log_contents, struct mu_frame_names *names);

/*
 * Line 10 of a pass's log: "<n> bytes in <n> allocation[s] unreachable out of
 * <n> bytes in <n> allocation[s]", no newline.
 */
void mu_report_summary(
    struct mu_text *out, const struct UnreachableMemoryInfo *info);

/* Why there is no report, and the cure, in words. Ends with a newline. */
void mu_report_failure(
    struct mu_text *out, const struct UnreachableMemoryInfo *info);

#endif
