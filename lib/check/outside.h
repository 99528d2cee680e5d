/*
 * Checks from outside as a subject of the driver (lib/driver/driver.h): take an
 * image, search it here, fill a report. The differences between a running
 * process, one that has reached its end, and a core file are in their
 * operations.
 */
#ifndef LIB_CHECK_OUTSIDE_H
#define LIB_CHECK_OUTSIDE_H

#include "lib/check/analysis.h"
#include "lib/driver/driver.h"

/* One look: an image of the subject, and its search. */
struct mu_check_look {
	const struct mu_check *check;
	uint64_t begin_ns, deadline_ns; /* of the check */
	struct mu_analysis analysis;
	struct mu_snapshot *snap; /* set by take() */
	enum mu_status status;
	struct mu_why why;
	bool may_be_in_malloc; /* a thread may have been in malloc */
	bool changing;         /* memory changed while it was being read */
	bool execed;           /* the subject executed another program */
	uint64_t pause_ns;     /* the longest stop of all looks */
};

/* SUBJECT is the second argument of mu_check_run(). */
struct mu_subject_ops {
	/*
	 * Freeze, stop and take the image. MU_OK or MU_PARTIAL: look->snap has
	 * threads and memory. Otherwise look->why says why not.
	 */
	enum mu_status (*take)(void *subject, struct mu_check_look *look);

	/* Make memory readable that the program has made inaccessible. */
	void (*unlock)(void *subject);

	/*
	 * Called after the search, while the memory can be read: add what the
	 * look may have missed to its status and reason.
	 */
	void (*note)(void *subject, struct mu_check_look *look);

	/* Release the image. NULL: the caller of mu_check_run() does that. */
	void (*drop)(void *subject);

	/*
	 * True if another try is worth it. TRIES is counted since the heap was
	 * last checked. NULL: no other try is possible.
	 */
	bool (*again)(
	    void *subject, struct mu_check_look *look, struct mu_tries *tries);

	/*
	 * True if LOOK, which found leaks, is known to miss references; WHY
	 * says which. May be NULL, like again().
	 */
	bool (*misses)(const void *subject, const struct mu_check_look *look,
	    struct mu_why *why);

	/* The heap could not be checked: add to the reason. May be NULL. */
	void (*explain)(const void *subject, struct mu_check_look *look);

	/* Describe the subject: pid, program, threads, stop. */
	void (*describe)(const void *subject, struct mu_report *report);

	/*
	 * The sources of names, to which mappings are added. May be called as
	 * long as the image exists.
	 */
	void (*source)(void *subject, struct mu_symbols_source *source,
	    struct mu_rights *rights);

	/* Find names of the report's addresses: see mu_naming_ask(). */
	void (*name)(
	    void *subject, struct mu_report *report, uint64_t deadline_ns);
};

/* Like mu_check_process(). */
enum mu_status mu_check_run(const struct mu_check *check, void *subject,
    const struct mu_subject_ops *ops, struct mu_report *report);

/* True if the heap was checked. */
static inline bool
mu_check_look_checked(const struct mu_check_look *look)
{
	return mu_status_usable(look->status);
}

/* True if what was found may be in use at another moment. */
bool mu_check_doubtful(const struct mu_check_look *look);

#endif
