/*
 * A check of another process or of a core file: the request, and the functions
 * that do it.
 */
#ifndef LIB_CHECK_CHECK_H
#define LIB_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapwalk/subject/reach.h"
#include "lib/explain/explained.h"
#include "lib/writers/report.h"
#include "mu/status.h"

/* How to read the memory of a process; see --stop. */
enum mu_check_stop {
	MU_CHECK_STOP_AUTO, /* copy; if that is impossible, read */
	MU_CHECK_STOP_FORK, /* a copy-on-write copy only */
	MU_CHECK_STOP_READ, /* read while the process is stopped */
};

/* The steps of a check, for progress reports. */
enum mu_check_step {
	MU_CHECK_STEP_STOP,
	MU_CHECK_STEP_COPY,
	MU_CHECK_STEP_WALK,
	MU_CHECK_STEP_MARK,
	MU_CHECK_STEP_SYMBOLS,
	MU_CHECK_STEPS
};

struct mu_check {
	pid_t pid;
	const char *core, *exe, *sysroot; /* NULL: not given */
	const char *debug; /* a folder with debug files; NULL: not given */
	const char *look;  /* a saved one; NULL: not given */
	const struct mu_since *since; /* report only what was lost since; or
					 NULL */
	enum mu_check_stop stop;
	uint64_t timeout_ns;
	uint64_t max_pause_ns; /* for one stop; 0: the default */
	size_t limit;          /* of entries */
	bool contents;         /* entries need contents or types */
	enum mu_by by;         /* how entries are grouped */
	bool list;             /* all entries, even if there are groups */
	size_t max_memory; /* for tables, bytes; 0: half of what is available */
	size_t window;     /* bytes of a copy that are in memory at a time
			      (MU_REMOTE_...); 0: default */
	size_t workers;    /* 0: one per CPU */
	struct mu_reach reach; /* rules for references; zero: the default */
	const char *by_option; /* the same as text; NULL or "": the default */
	struct mu_core_out *core_out; /* write each image there; or NULL */
	struct mu_explain explain;    /* what else to find out */
	bool confirm; /* processes: report only what two looks find */
	/* Called in the calling thread at the start of each step. */
	void (*progress)(void *ctx, enum mu_check_step step);
	void *progress_ctx;
};

/* Report the start of STEP, if the caller wants to know. */
static inline void
mu_check_progress(const struct mu_check *check, enum mu_check_step step)
{
	if (check->progress != NULL)
		check->progress(check->progress_ctx, step);
}

/*
 * MU_OK or MU_PARTIAL: the heap was checked. Otherwise it was not,
 * answer->info.reason says why, and the rest of ANSWER is what is known. ANSWER
 * is zeroed first; release it in any case.
 */
enum mu_status mu_check_process(
    const struct mu_check *check, struct mu_report *answer);
enum mu_status mu_check_core(
    const struct mu_check *check, struct mu_report *answer);

/* The same of a saved look. */
enum mu_status mu_check_look_file(
    const struct mu_check *check, struct mu_report *answer);

/* For mu_check_release(); accepts NULL. */
void mu_saved_look_close(struct mu_saved_look *saved);

/* Accepts a zeroed answer. */
void mu_check_release(struct mu_report *answer);

#endif
