/*
 * Turn a snapshot into an answer: what the checks of a process and of a core
 * file have in common.
 */
#ifndef LIB_CHECK_JUDGEMENT_H
#define LIB_CHECK_JUDGEMENT_H

#include "lib/check/check.h"
#include "lib/helpers/search.h"
#include "lib/helpers/worker_threads.h"

struct mu_lost_ranges {
	struct mu_arena arena;
	struct mu_range *ranges; /* NULL: not searched for */
	size_t count;
};

struct mu_judgement {
	const struct mu_check *check;
	struct mu_arena tables;
	struct mu_worker_threads threads;
	struct mu_search search;

	/* Leaks of the first of two looks, kept until the judgement ends. */
	struct mu_lost_ranges candidates;

	/* Leaks of the last search; see mu_judgement_confirm(). */
	struct mu_lost_ranges lost;

	/* Set by the caller; may be NULL. */
	void (*unlock)(void *ctx); /* open what the program has closed */
	void *ctx;
};

/*
 * Memory limit in bytes: that of CHECK, or so many quarters of the available
 * memory, or no limit if that is not known.
 */
size_t mu_judgement_limit(const struct mu_check *check, unsigned quarters);

/* Prepare threads and tables. Close in any case. */
void mu_judgement_open(
    struct mu_judgement *judgement, const struct mu_check *check);

/*
 * Search SNAP, whose threads and memory are set. BEGIN_NS is when the check
 * began. The result is in judgement->search.
 */
void mu_judgement_run(struct mu_judgement *judgement, struct mu_snapshot *snap,
    uint64_t begin_ns, uint64_t deadline_ns);

/* Copy the results of the search to ANSWER; STATUS and WHY say how it ended. */
enum mu_status mu_judgement_tell(const struct mu_judgement *judgement,
    enum mu_status status, const struct mu_why *why, struct mu_report *answer);

/*
 * Note the leaks, while the memory can still be read, for another search.
 * Returns false if memory is exhausted.
 */
bool mu_judgement_note_lost(struct mu_judgement *judgement);

/*
 * From now on report only what was noted. Returns false if nothing was noted,
 * for lack of memory.
 */
bool mu_judgement_confirm(struct mu_judgement *judgement);

/* Drop what was noted: it belongs to another program. */
void mu_judgement_start_over(struct mu_judgement *judgement);

/* Call before another search. */
void mu_judgement_forget(struct mu_judgement *judgement);
void mu_judgement_close(struct mu_judgement *judgement);

#endif
