/*
 * What a check found, filled once, for every writer (lib/writers/writer.h).
 */
#ifndef LIB_WRITERS_REPORT_H
#define LIB_WRITERS_REPORT_H

#include <sys/types.h>

#include "heapwalk/heaps/usage.h"
#include "lib/pipe/entries.h"
#include "lib/term/names.h"
#include "memunreachable/memunreachable.h"
#include "mu/status.h"

/*
 * Strings come from the subject: nothing is known of them but that they end.
 * What it points to is released by mu_check_release().
 */
struct mu_report {
	/* the subject */
	pid_t pid;          /* 0: not known */
	char program[256];  /* path of the executable, or its name */
	char allocator[64]; /* "glibc 2.36", "jemalloc", "": unknown */
	const char *stop;   /* "fork", "read", "core", "exit", "ptrace",
			       "signal", "" */

	/* how the check ended, and the totals; it has no entries itself */
	struct UnreachableMemoryInfo info;
	size_t cure; /* where the remedy begins in info.reason; 0: none */

	struct mu_heap_usage usage; /* all zero: not known */
	struct mu_entries entries;

	/* names of addresses */
	struct mu_naming *naming; /* the command's; NULL: none */
	struct mu_names names;
	char names_note[192]; /* what is missing of them; "": nothing */
};

/* How the check ended, in REPORT's own form. */
void mu_report_reason(
    struct mu_report *report, enum mu_status status, const struct mu_why *why);

/* What to do about info.status; "": nothing is known to help. */
const char *mu_report_remedy(const struct mu_report *report);

#endif
