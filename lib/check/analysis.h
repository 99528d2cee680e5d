/*
 * Turn a snapshot into an answer: what the checks of a process and of a core
 * file have in common.
 */
#ifndef LIB_CHECK_ANALYSIS_H
#define LIB_CHECK_ANALYSIS_H

#include "heapwalk/memory/cgroups.h"
#include "lib/check/check.h"
#include "lib/explain/explain.h"
#include "lib/helpers/search.h"
#include "lib/helpers/worker_threads.h"

struct mu_lost_ranges {
	struct mu_arena arena;
	struct mu_range *ranges; /* NULL: not searched for */
	size_t count;
};

struct mu_analysis {
	const struct mu_check *check;
	struct mu_cgroups_known cgroups; /* from one look to the next */
	struct mu_arena tables;
	struct mu_worker_threads threads;
	struct mu_search search;
	int file; /* without a name, for many entries; -1: none */

	/* Leaks of the first of two looks, kept until the analysis ends. */
	struct mu_lost_ranges candidates;

	/* Leaks of the last search; see mu_analysis_confirm(). */
	struct mu_lost_ranges lost;

	/* What check->explain asks for of the last search; or NULL. */
	struct mu_explained *explained;

	/* Set by the caller; may be NULL. */
	void (*unlock)(void *ctx); /* open what the program has closed */
	/* where names come from */
	void (*source)(void *ctx, struct mu_symbols_source *source,
	    struct mu_rights *rights);
	void *ctx;
};

/*
 * Memory limit in bytes: that of CHECK, or so many quarters of the available
 * memory, or no limit if that is not known. KNOWN: see
 * heapwalk/memory/available.h.
 */
size_t mu_analysis_limit(const struct mu_check *check,
    struct mu_cgroups_known *known, unsigned quarters);

/* Prepare threads and tables. Close in any case. */
void mu_analysis_open(
    struct mu_analysis *analysis, const struct mu_check *check);

/*
 * Search SNAP, whose threads and memory are set. BEGIN_NS is when the check
 * began. The result is in analysis->search.
 */
void mu_analysis_run(struct mu_analysis *analysis, struct mu_snapshot *snap,
    uint64_t begin_ns, uint64_t deadline_ns);

/*
 * Copy the results of the search to ANSWER, which gets the explanation; STATUS
 * and WHY say how it ended.
 */
enum mu_status mu_analysis_fill_report(struct mu_analysis *analysis,
    enum mu_status status, const struct mu_why *why, struct mu_report *answer);

/*
 * Note the leaks, while the memory can still be read, for another search.
 * Returns false if memory is exhausted.
 */
bool mu_analysis_keep_lost(struct mu_analysis *analysis);

/*
 * From now on report only what was noted. Returns false if memory was too short
 * to note anything.
 */
bool mu_analysis_confirm(struct mu_analysis *analysis);

/*
 * The same with the COUNT blocks LOST, by address, which the caller keeps until
 * the analysis is closed; none are noted then.
 */
void mu_analysis_expect(
    struct mu_analysis *analysis, struct mu_range *lost, size_t count);

/* Drop what was noted: it belongs to another program. */
void mu_analysis_start_over(struct mu_analysis *analysis);

/* Call before another search. */
void mu_analysis_forget(struct mu_analysis *analysis);
void mu_analysis_close(struct mu_analysis *analysis);

#endif
