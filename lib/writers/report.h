/*
 * The result of a check, filled once, for all writers (lib/writers/writer.h).
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
 * Strings come from the subject: they are terminated, but may contain anything.
 * mu_check_release() frees what it points to.
 */
struct mu_report {
	/* the subject */
	pid_t pid;          /* 0: not known */
	char program[256];  /* path of the executable, or its name */
	char allocator[64]; /* "glibc 2.36, jemalloc"; "": unknown */
	const char *stop;   /* "fork", "read", "core", "exit", "ptrace",
			       "signal", "" */
	bool no_recorder; /* can be preloaded: it is static, or has no glibc */

	/* how the check ended, and the totals; it has no entries itself */
	struct UnreachableMemoryInfo info;
	size_t cure; /* index of the remedy in info.reason; 0: none */

	struct mu_heap_usage usage; /* all zero: not known */
	struct mu_entries entries;
	struct mu_groups_info groups; /* those in ENTRIES */

	struct mu_explained *explained; /* lib/explain/; NULL: not asked for */

	/* Which groups are known (lib/since/baseline.h); NULL: not asked. */
	struct mu_report_baseline *baseline;
	bool *suppressed; /* groups (lib/since/suppressions.h); NULL: not asked
			   */

	/* names of addresses */
	struct mu_naming *naming;   /* the command's; NULL: none */
	struct mu_saved_look *look; /* has them, if it is of one; or NULL */
	struct mu_kept_names *kept; /* records them for a saved look; or NULL */
	struct mu_names names;
	char names_note[192]; /* which names are missing and why; "": none */
};

/* What a report has of a baseline. */
struct mu_report_baseline {
	const char *file;             /* NULL: nothing is known */
	bool *known;                  /* of each group */
	size_t groups, blocks, bytes; /* that are known */
};

/* True if group INDEX is known or suppressed. */
static inline bool
mu_report_known(const struct mu_report *report, size_t index)
{
	if (report->suppressed != NULL && report->suppressed[index])
		return true;
	return report->baseline != NULL && report->baseline->known != NULL &&
	    report->baseline->known[index];
}

/* Set how the check ended. */
void mu_report_reason(
    struct mu_report *report, enum mu_status status, const struct mu_why *why);

/* What the user can do about info.status; "" if nothing is known to help. */
const char *mu_report_remedy(const struct mu_report *report);

#endif
