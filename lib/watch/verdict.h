/*
 * The verdict of a watch: does the process leak, grow, fragment, or is it
 * steady; and which groups explain it.
 *
 * Pure.
 */
#ifndef LIB_WATCH_VERDICT_H
#define LIB_WATCH_VERDICT_H

#include "lib/term/out.h"
#include "lib/watch/series.h"

#define MU_WATCH_GROWING 16

/* A group that grows. */
struct mu_watch_growing {
	char name[MU_WATCH_NAME];
	enum mu_watch_kind kind;
	uint64_t gained;          /* bytes over the later looks */
	double per_hour;          /* bytes */
	double share;             /* of what its kind gained, 0 to 1 */
	double elements_per_hour; /* HELD */
};

/* Bytes over the later looks. */
struct mu_watch_gain {
	enum MemunreachableVerdict verdict;
	uint64_t gained;
	double per_hour;
};

#define MU_WATCH_GAINS 2

struct mu_watch_result {
	enum MemunreachableVerdict verdict;
	size_t looks, unchecked, partial;
	size_t typed;     /* looks that knew the live groups, of those kept */
	uint64_t span_ns; /* from the first look to the last */
	/* What grows most an hour is first: LEAK and GROWTH, or one of them. */
	struct mu_watch_gain gains[MU_WATCH_GAINS];
	size_t num_gains;
	bool outside; /* GROWTH: of memory that is not malloc's */
	bool of_all;  /* HELD have shares of all that came, most of which is not
			 malloc's */
	bool rising;  /* STEADY: live bytes rise; more looks tell */
	uint64_t live, lost, held_free; /* bytes at the last look */
	uint64_t first_lost;
	char reason[256]; /* of the last look that did not check the heap */
	/* By kind in the order of the gains, then by gain. */
	struct mu_watch_growing growing[MU_WATCH_GROWING];
	size_t num_growing;
};

/* Judge all of SERIES. RESULT needs no initialisation. */
void mu_watch_judge(
    const struct mu_series *series, struct mu_watch_result *result);

/* After rounds: a LEAK, if each of them lost some. */
void mu_watch_judge_rounds(struct mu_watch_result *result, bool leak);

/* What the verdict of RESULT is about; zero if nothing grows. */
struct mu_watch_gain mu_watch_main_gain(const struct mu_watch_result *result);

/* "leak", "growth", "fragmentation", "steady", "too_few_looks", "unchecked" */
const char *mu_watch_verdict_name(enum MemunreachableVerdict verdict);

/*
 * The exit status (lib/writers/exit_status.h): LEAKS for a leak, UNCHECKED if
 * no look checked the heap, PARTIAL if too few did or most of them in part,
 * else CLEAN.
 */
int mu_watch_exit_status(const struct mu_watch_result *result);

/*
 * "leak: +2.1 MiB/h lost, 94 % of it Session (handle at served.c:16)", with
 * "growth: ..." before or behind it, as one or the other grows more; and a line
 * for each group if there are several.
 */
void mu_watch_verdict_text(
    const struct mu_out *out, const struct mu_watch_result *result);

#endif
