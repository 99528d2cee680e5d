/*
 * Leaks as text: Android's report, in the library's log and strings and in the
 * command's report.
 *
 * Runs in: original, command.
 */
#ifndef LIB_WRITERS_LEAKS_TEXT_H
#define LIB_WRITERS_LEAKS_TEXT_H

#include "lib/term/out.h"
#include "lib/writers/writer.h"

/*
 * One entry, with its frames. Without contents no byte of the heap is shown;
 * but if NAMES names words, the name of the first one that points into a module
 * is, as it tells what the block was.
 */
void mu_leak_text(const struct mu_out *out, const struct Leak *leak,
    const struct mu_shown *shown, const struct mu_names *names);

/* The number of lost blocks, the ABI, and what limits the answer. */
void mu_leaks_text_totals(const struct mu_out *out,
    const struct mu_report *report, const struct mu_shown *shown);

/*
 * Every entry, followed by an empty line. Entries without a stack because of
 * sampling are left out: mu_leaks_text_rest() sums them up.
 */
void mu_leaks_text_entries(const struct mu_out *out,
    const struct mu_report *report, const struct mu_shown *shown);

/*
 * That stacks were sampled, if they were; one line, indented by two. Returns
 * true if so.
 */
bool mu_leaks_text_sampled(
    const struct mu_out *out, const struct mu_report *report);

/*
 * What the entries do not show: how many more there are, and that several of
 * them count the same blocks. One line each, indented by two. Returns true if
 * there was any.
 */
bool mu_leaks_text_rest(
    const struct mu_out *out, const struct mu_report *report);

/* The three parts above. */
void mu_leaks_text(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown);

/*
 * "<n> bytes in <n> allocation[s] unreachable out of <n> bytes in <n>
 * allocation[s]", no newline.
 */
void mu_leaks_text_summary(
    const struct mu_out *out, const struct UnreachableMemoryInfo *info);

#endif
