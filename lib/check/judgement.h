/*
 * A snapshot becomes an answer in words and numbers: what the checks of a
 * process and of a core file have in common.
 */
#ifndef LIB_CHECK_JUDGEMENT_H
#define LIB_CHECK_JUDGEMENT_H

#include "lib/check/check.h"
#include "lib/helpers/search.h"
#include "lib/helpers/worker_threads.h"

struct mu_lost_ranges {
	struct mu_arena arena;
	struct mu_range *ranges; /* NULL: none were looked for */
	size_t count;
};

struct mu_judgement {
	const struct mu_check *check;
	struct mu_arena tables;
	struct mu_worker_threads threads;
	struct mu_search search;

	/* Lost in the first of two looks; kept until the judgement ends. */
	struct mu_lost_ranges candidates;

	/* Lost in the last search; see mu_judgement_confirm(). */
	struct mu_lost_ranges lost;

	/* Set by the caller; NULL is allowed. */
	void (*unlock)(void *ctx); /* open what the program has closed */
	void *ctx;
};

/*
 * Memory limit in bytes: what CHECK allows, or that many quarters of the
 * available memory, or no limit if that is unknown.
 */
size_t mu_judgement_limit(const struct mu_check *check, unsigned quarters);

/* Threads and tables; to be closed. */
void mu_judgement_open(
    struct mu_judgement *judgement, const struct mu_check *check);

/*
 * Search SNAP, whose threads and memory are there, from BEGIN_NS on; the
 * result is in judgement->search.
 */
void mu_judgement_run(struct mu_judgement *judgement, struct mu_snapshot *snap,
    uint64_t begin_ns, uint64_t deadline_ns);

/* What the search found becomes ANSWER's; STATUS and WHY: how it ended. */
enum mu_status mu_judgement_tell(const struct mu_judgement *judgement,
    enum mu_status status, const struct mu_why *why, struct mu_report *answer);

/*
 * Note what was lost, while the memory is still there to be read: for another
 * search. False: no memory.
 */
bool mu_judgement_note_lost(struct mu_judgement *judgement);

/*
 * Searches from now on tell of nothing but what was noted last. False: nothing
 * was, for want of memory.
 */
bool mu_judgement_confirm(struct mu_judgement *judgement);

/* Forget what was noted: it was of another program. */
void mu_judgement_start_over(struct mu_judgement *judgement);

/* Before another search may follow. */
void mu_judgement_forget(struct mu_judgement *judgement);
void mu_judgement_close(struct mu_judgement *judgement);

#endif
